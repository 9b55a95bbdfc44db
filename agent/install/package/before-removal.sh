# Runs before the files go, and not before an upgrade. The server is told and the rules go; quarantined files stay until the purge.
if [ -d /run/systemd/system ]; then
  systemctl disable --quiet --now palisade-agent.service palisade-firewall.service 2>/dev/null || true
fi
/opt/palisade-agent/bin/node /opt/palisade-agent/lib/palisade-agent.cjs uninstall || true
