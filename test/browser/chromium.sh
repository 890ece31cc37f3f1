#!/bin/sh
# Starts $CHROMIUM without the two pages that it loads for the address bar of each window, which nobody sees and which cost more than a window.
# The driver turns features off too; of two such switches only the last counts, so these join its list.
for argument; do
  shift
  case $argument in
    --disable-features=*) argument=$argument,WebUIOmniboxPopup,WebUIOmniboxAimPopup ;;
  esac
  set -- "$@" "$argument"
done
exec "$CHROMIUM" "$@"
