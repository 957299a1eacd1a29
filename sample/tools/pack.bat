@echo off
rem Packs a release.
set OUT=release
if not exist %OUT% mkdir %OUT%
copy src\*.ts %OUT%
echo done
