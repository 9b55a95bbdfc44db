import { createHash } from 'node:crypto';

const escaped = (text: string) =>
  text.replaceAll(/[&<>"']/gu, (character) => `&#${character.charCodeAt(0)};`).replaceAll(/[\p{Cc}]/gu, ' ');

/** Derives a stable UUID, so that a new profile of a device replaces the previous one. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`.toUpperCase();
}

/**
 * The configuration profile that sets an Apple device's DNS server: payload `com.apple.dnsSettings.managed` of Apple's device management schema. Users can remove it. It includes the port
 * of the address if it has one.
 */
export function appleProfile(parts: { address: string; provider: string; device_name: string; device_id: string }): string {
  const { address, provider, device_name, device_id } = parts;
  const name = escaped(`${provider} web protection`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>PayloadContent</key>
  <array>
    <dict>
      <key>DNSSettings</key>
      <dict>
        <key>DNSProtocol</key>
        <string>HTTPS</string>
        <key>ServerURL</key>
        <string>${escaped(address)}</string>
      </dict>
      <key>PayloadDisplayName</key>
      <string>${name}</string>
      <key>PayloadIdentifier</key>
      <string>palisade.dns.${device_id}.settings</string>
      <key>PayloadType</key>
      <string>com.apple.dnsSettings.managed</string>
      <key>PayloadUUID</key>
      <string>${uuidOf(`settings ${device_id}`)}</string>
      <key>PayloadVersion</key>
      <integer>1</integer>
      <key>ProhibitDisablement</key>
      <false/>
    </dict>
  </array>
  <key>PayloadDescription</key>
  <string>${escaped(`Refuses dangerous names on ${device_name}.`)}</string>
  <key>PayloadDisplayName</key>
  <string>${name}</string>
  <key>PayloadIdentifier</key>
  <string>palisade.dns.${device_id}</string>
  <key>PayloadRemovalDisallowed</key>
  <false/>
  <key>PayloadType</key>
  <string>Configuration</string>
  <key>PayloadUUID</key>
  <string>${uuidOf(`profile ${device_id}`)}</string>
  <key>PayloadVersion</key>
  <integer>1</integer>
</dict>
</plist>
`;
}
