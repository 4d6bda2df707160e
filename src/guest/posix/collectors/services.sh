# All services that systemd has loaded: blocks of lines NAME=VALUE with an empty line between them. Ends with 3 where there is no systemd.
if ! command -v systemctl >/dev/null || [ ! -d /run/systemd/system ]; then
  echo "systemd does not run in it"
  exit 3
fi
exec systemctl show --no-pager --all \
  --property=Id,Description,LoadState,ActiveState,SubState,Result,UnitFileState,MainPID,ExecMainStatus -- '*.service'
