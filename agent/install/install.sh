#!/bin/sh
# Makes this computer a device of a Palisade server:
#   curl -fsS SERVER/agent/install.sh | sudo sh
# It asks for the enrolment code at the terminal. Without one: ... | sudo sh -s -- --code-file FILE
# Everything lies in /opt/palisade-agent and /var/lib/palisade-agent; `palisade-agent uninstall` takes all of it away.
set -eu

SERVER='@SERVER@'
AGENT_SHA256='@AGENT_SHA256@'
NODE_X64='@NODE_X64@'
NODE_X64_SHA256='@NODE_X64_SHA256@'
NODE_ARM64='@NODE_ARM64@'
NODE_ARM64_SHA256='@NODE_ARM64_SHA256@'
HOME_FOLDER=/opt/palisade-agent

die() {
  echo "palisade: $1" >&2
  exit 1
}

# Nothing is run before all of this file has come: a connection that breaks off leaves nothing half done.
main() {
  # Other users can read arguments, so the code is none.
  case "$#:${1:-}" in
    0:) (: </dev/tty) 2>/dev/null || die "There is no terminal to type the code at. Write it to a file: ... | sudo sh -s -- --code-file FILE" ;;
    2:--code-file) [ -r "$2" ] || die "The file $2 could not be read." ;;
    *) die "Other users can read a code that is an argument. Leave it out and type it when asked, or run: ... | sudo sh -s -- --code-file FILE" ;;
  esac
  [ "$(uname -s)" = Linux ] || die "The agent runs on Linux. For other systems, rules can be exported on the server's page."
  case "$(uname -m)" in
    x86_64) node="$NODE_X64" node_sha256="$NODE_X64_SHA256" ;;
    aarch64) node="$NODE_ARM64" node_sha256="$NODE_ARM64_SHA256" ;;
    *) die "The agent is built for x86_64 and aarch64, and this computer is $(uname -m)." ;;
  esac
  [ -n "$node" ] || die "This server has no agent for $(uname -m) yet. Its operator makes one with: npm run agent:packages"
  [ ! -f "$HOME_FOLDER/PACKAGED" ] || die "The agent is installed as a package here. Run: sudo palisade-agent enrol $SERVER"
  [ "$(id -u)" = 0 ] || die "Run it as root: ... | sudo sh"
  for program in curl tar gzip sha256sum; do
    command -v "$program" >/dev/null || die "The program $program is missing."
  done

  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  fetch palisade-agent.tar.gz "$AGENT_SHA256"
  fetch "$node" "$node_sha256"
  mkdir -p "$work/new/bin"
  tar -xzf "$work/palisade-agent.tar.gz" -C "$work/new" --no-same-owner
  tar -xzf "$work/$node" -C "$work/new/bin" --no-same-owner
  chown -R 0:0 "$work/new"
  chmod -R go-w "$work/new"

  if ! command -v nft >/dev/null || ! command -v conntrack >/dev/null; then
    if command -v apt-get >/dev/null; then
      echo "palisade: installing nftables and conntrack..."
      DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends nftables conntrack >/dev/null ||
        echo "palisade: nftables could not be installed; without it no rule is enforced here." >&2
    else
      echo "palisade: nftables is missing; without it no rule is enforced here." >&2
    fi
  fi

  has_systemd=no
  [ -d /run/systemd/system ] && has_systemd=yes
  [ "$has_systemd" = no ] || systemctl stop palisade-agent.service 2>/dev/null || true
  rm -rf "$HOME_FOLDER"
  mkdir -p "$(dirname "$HOME_FOLDER")"
  cp -R "$work/new" "$HOME_FOLDER"
  mkdir -p /usr/local/bin
  ln -sf "$HOME_FOLDER/bin/palisade-agent" /usr/local/bin/palisade-agent

  if ! "$HOME_FOLDER/bin/palisade-agent" enrol "$@" "$SERVER"; then
    # Nothing is left of what did not become a device.
    [ -f /var/lib/palisade-agent/identity.json ] || rm -rf "$HOME_FOLDER" /usr/local/bin/palisade-agent
    exit 1
  fi

  mkdir -p /etc/systemd/system
  cp "$HOME_FOLDER/units/palisade-agent.service" "$HOME_FOLDER/units/palisade-firewall.service" /etc/systemd/system/
  if [ "$has_systemd" = yes ]; then
    systemctl daemon-reload
    systemctl enable --quiet palisade-firewall.service
    systemctl enable --quiet --now palisade-agent.service
    echo "palisade: the agent runs. palisade-agent status says how it stands."
  else
    echo "palisade: there is no systemd here. Have this started with the computer: palisade-agent run"
  fi
}

fetch() {
  curl -fsS -o "$work/$1" "$SERVER/agent/files/$1" || die "$1 could not be downloaded from $SERVER."
  echo "$2  $work/$1" | sha256sum -c --quiet - >/dev/null 2>&1 || die "$1 is not what the server said it would be. Nothing was installed."
}

main "$@"
