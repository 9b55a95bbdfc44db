#!/bin/sh
# Makes the secrets of compose.yaml in the folder secrets beside it, each once: what is there stays. One that an older .env has is taken over.
# Asks for the address of the mail server, with its account: smtp://user:password@mail.example.com:587 (@, / and : in a password are %40, %2F, %3A).
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets
# Only the owner enters the folder; in it the users of the containers read.
chmod 700 secrets

from_env() {
  if [ -f .env ]; then sed -n "s/^$1=//p" .env | head -n 1; fi
}

put() {
  printf '%s\n' "$2" > "secrets/$1.new"
  chmod 644 "secrets/$1.new"
  mv "secrets/$1.new" "secrets/$1"
}

for name in postgres_password redis_password storage_secret turn_secret metrics_token; do
  if [ -s "secrets/$name" ]; then continue; fi
  value=$(from_env "$(printf '%s' "$name" | tr '[:lower:]' '[:upper:]')")
  if [ -z "$value" ]; then value=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n'); fi
  put "$name" "$value"
done

if [ ! -s secrets/smtp_url ]; then
  value=$(from_env SMTP_URL)
  if [ -z "$value" ]; then
    printf 'Address of the mail server: ' >&2
    read -r value
  fi
  case $value in
    smtp://?* | smtps://?*) put smtp_url "$value" ;;
    *)
      echo "An address of a mail server starts with smtp:// or smtps://. Nothing was written; run this again." >&2
      exit 1
      ;;
  esac
fi
