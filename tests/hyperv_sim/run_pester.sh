#!/bin/sh
# Runs the Pester tests of the simulated Hyper-V module in PowerShell 7. The last line is `pester: N passed, N failed, N skipped`,
# or `pester: skipped: REASON` where PowerShell or Pester is missing (exit code 0).
#
#   sh tests/hyperv_sim/run_pester.sh [-Only TEXT] [-Report FILE]
set -eu

folder=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd -P)
PATH=$PATH:${DOTNET_TOOLS_PATH:-$HOME/.dotnet/tools}
if ! command -v pwsh >/dev/null 2>&1; then
    echo "pester: skipped: pwsh is not installed (dotnet tool install --global PowerShell --version 7.6.9)"
    exit 0
fi
packages=${NUGET_PACKAGES:-$HOME/.nuget/packages}
if [ ! -d "$packages/pester" ] && command -v dotnet >/dev/null 2>&1; then
    scratch=$(mktemp -d)
    printf '%s' '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><TargetFramework>net8.0</TargetFramework></PropertyGroup><ItemGroup><PackageReference Include="Pester" Version="6.2.0" /></ItemGroup></Project>' >"$scratch/fetch.csproj"
    dotnet restore "$scratch/fetch.csproj" >"$scratch/log" 2>&1 || { tail -n 5 "$scratch/log"; echo "pester: skipped: Pester could not be fetched"; rm -rf "$scratch"; exit 0; }
    rm -rf "$scratch"
fi
exec pwsh -NoProfile -NonInteractive -File "$folder/run_pester.ps1" "$@"
