# Runs after the files of the package are there: of a new one, and of a newer one.
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  # Only what runs already is started again with the new files.
  systemctl try-restart palisade-agent.service || true
fi
if [ ! -f /var/lib/palisade-agent/identity.json ]; then
  echo "palisade-agent: make this computer a device with: sudo palisade-agent enrol SERVER"
fi
