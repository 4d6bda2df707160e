# Tells what a path is: kind, permission bits, seconds since 1970, size. A folder's size is what it and all in it take up.
# Argument: path.
[ -e "$1" ] || { echo missing; exit 0; }
kind=other
[ -f "$1" ] && kind=file
[ -d "$1" ] && kind=folder
facts=$(stat -L -c '%a %Y %s' -- "$1" 2>/dev/null) || facts=
if [ "$kind" = folder ]; then
  size=$(du -sk -- "$1" 2>/dev/null) && facts="${facts% *} $((${size%%[!0-9]*} * 1024))"
fi
echo "$kind $facts"
