import type { WebDevice, WebDeviceKind, WebProtection } from '@palisade/contract/web-protection';
import { IconDownload } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { ButtonLink } from '#ui/button-link.tsx';
import { CopyButton } from '#ui/copy-button.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { AddressTrial } from './address-trial.tsx';

/** A text to copy to the device. */
function Copied({ label, text }: { label: string; text: string }) {
  return (
    <Row justify="between" gap="3" className="surface-sunken pad-m">
      <Stack gap="1" className="grow shrink">
        <span className="small muted">{label}</span>
        <code className="mono break">{text}</code>
      </Stack>
      <CopyButton text={text} copied={`${label} copied.`} label="Copy" />
    </Row>
  );
}

/** A path through the settings of a system, from menu to submenu. */
function Place({ of, path }: { of?: string; path: readonly string[] }) {
  return (
    <span className="block">
      {of !== undefined && `${of}: `}
      <b>{path.join(' › ')}</b>
    </span>
  );
}

/** Numbered steps to follow on the device. */
function Steps({ steps }: { steps: readonly ReactNode[] }) {
  return (
    <Stack as="ol" gap="4" className="bare large unlined">
      {steps.map((step, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: steps never change their order
        <Grid as="li" key={index} columns="lead" gap="3" align="start">
          <span className="icon-tile num bold fixed rounded-s" data-tone="note" aria-hidden="true">
            {index + 1}
          </span>
          <Stack gap="2" className="shrink">
            {step}
          </Stack>
        </Grid>
      ))}
    </Stack>
  );
}

const PASTE = 'Paste it there. It counts at once.';

function ForBrowser({ address }: { address: string }) {
  return (
    <Steps
      steps={[
        <>
          <p>Copy this address.</p>
          <Copied label="Address" text={address} />
        </>,
        <>
          <p>Open the settings of the browser.</p>
          <p className="base">
            <Place of="Chrome" path={['Settings', 'Privacy and security', 'Security', 'Use secure DNS', 'Add custom provider']} />
            <Place of="Edge" path={['Settings', 'Privacy', 'Security', 'Use secure DNS', 'Choose a service provider']} />
            <Place of="Firefox" path={['Settings', 'Privacy & Security', 'DNS over HTTPS', 'Max Protection', 'Custom']} />
          </p>
        </>,
        PASTE,
      ]}
    />
  );
}

const INTERFACE = "(Get-NetRoute -DestinationPrefix '0.0.0.0/0' | Select-Object -First 1).InterfaceIndex";

function ForWindows({ address, addresses }: { address: string; addresses: readonly string[] }) {
  if (addresses.length === 0)
    return (
      <>
        <p>This server has no fixed address for Windows itself. Protect the browsers on it instead.</p>
        <ForBrowser address={address} />
      </>
    );
  const all = addresses.map((one) => `'${one}'`).join(',');
  const on = [
    `${all} | ForEach-Object { Add-DnsClientDohServerAddress -ServerAddress $_ -DohTemplate '${address}' -AllowFallbackToUdp $False -AutoUpgrade $True }`,
    `Set-DnsClientServerAddress -InterfaceIndex ${INTERFACE} -ServerAddresses ${all}`,
  ].join('\n');
  const off = [
    `Set-DnsClientServerAddress -InterfaceIndex ${INTERFACE} -ResetServerAddresses`,
    `${all} | ForEach-Object { Remove-DnsClientDohServerAddress -ServerAddress $_ }`,
  ].join('\n');
  return (
    <>
      <Steps
        steps={[
          'On Windows 11, open PowerShell as administrator.',
          <>
            <p>Paste these lines.</p>
            <Copied label="Turn on" text={on} />
          </>,
        ]}
      />
      <p className="sub">To stop, paste these lines there.</p>
      <Copied label="Turn off" text={off} />
    </>
  );
}

function ForApple({ address }: { address: string }) {
  return (
    <>
      <p className="sub">The system calls this profile unsigned. That’s expected.</p>
      <Steps
        steps={[
          <>
            <p>Open this page in Safari on the device, and download the profile.</p>
            <Row gap="2">
              <ButtonLink variant="primary" icon={IconDownload} href={`${address}/profile`}>
                Download profile
              </ButtonLink>
              <CopyButton text={`${address}/profile`} copied="Profile link copied." label="Copy link" />
            </Row>
          </>,
          <>
            <p>Open the settings of the device.</p>
            <p className="base">
              <Place of="iPhone or iPad" path={['Settings', 'General', 'VPN & Device Management']} />
              <Place of="Mac" path={['System Settings', 'General', 'Device Management']} />
            </p>
          </>,
          <p key="install">
            <Sentence text="Choose the profile, then **Install**." />
          </p>,
        ]}
      />
      <p className="sub">Without this server, websites don’t open on the device. To stop, remove the profile there.</p>
    </>
  );
}

function ForAndroid({ host, address }: { host: string | null; address: string }) {
  if (host === null)
    return (
      <>
        <p>This server offers no Private DNS yet. Protect the browser on the phone instead.</p>
        <ForBrowser address={address} />
      </>
    );
  return (
    <>
      <Steps
        steps={[
          <>
            <p>Copy this host name.</p>
            <Copied label="Host name" text={host} />
          </>,
          <>
            <p>Open the settings of the phone.</p>
            <p className="base">
              <Place path={['Settings', 'Network & internet', 'Private DNS']} />
              <Place of="Samsung" path={['Settings', 'Connections', 'More connection settings', 'Private DNS']} />
            </p>
          </>,
          <p key="paste">
            <Sentence text="Choose **Private DNS provider hostname**, paste the host name, and save." />
          </p>,
        ]}
      />
      <p className="sub">Without this server, websites don’t open on the phone. To stop, choose “Automatic” there.</p>
    </>
  );
}

function ForNetwork({ plain, address, isRouter }: { plain: string | null; address: string; isRouter: boolean }) {
  return (
    <>
      {isRouter && (
        <>
          <p className="large">If your router offers DNS over HTTPS, paste this address there.</p>
          <Copied label="Address" text={address} />
        </>
      )}
      {plain === null ? (
        <p className={isRouter ? 'sub' : 'large'}>
          {isRouter
            ? 'Other routers can’t use this server yet. Ask your provider for plain DNS (the setting DNS_LISTEN).'
            : 'This device can’t use this server yet. Protect your router, or ask your provider for plain DNS (the setting DNS_LISTEN).'}
        </p>
      ) : (
        <>
          <p className="large">
            {isRouter
              ? 'Or enter this address as the only DNS server in the network settings.'
              : 'Enter this address as the only DNS server in the network settings.'}
          </p>
          <Copied label="DNS server" text={plain} />
        </>
      )}
    </>
  );
}

function ForLinux({ host, addresses, address }: { host: string | null; addresses: readonly string[]; address: string }) {
  const [first] = addresses;
  if (host === null || first === undefined) return <ForBrowser address={address} />;
  return (
    <Steps
      steps={[
        <>
          <p>With systemd-resolved, write these lines to /etc/systemd/resolved.conf.d/palisade.conf.</p>
          <Copied label="resolved.conf" text={`[Resolve]\nDNS=${first}#${host}\nDNSOverTLS=yes\nDomains=~.`} />
        </>,
        <>
          <p>Restart it.</p>
          <Copied label="Command" text="sudo systemctl restart systemd-resolved" />
        </>,
      ]}
    />
  );
}

const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])$/u;

/** True if the steps work with the address of this page: devices require https, except on the server's own computer. Some kinds do not. */
export function hasUsableSteps(
  kind: WebDeviceKind,
  { tls_host, addresses, plain }: WebProtection['ways'],
  { protocol, hostname }: Pick<Location, 'protocol' | 'hostname'> = window.location,
): boolean {
  if (protocol === 'https:' || LOOPBACK.test(hostname)) return true;
  if (kind === 'android') return tls_host !== null;
  if (kind === 'linux') return tls_host !== null && addresses.length > 0;
  return (kind === 'router' || kind === 'other') && plain !== null;
}

/** The steps to follow on the device itself. */
export function Instructions({ device, ways }: { device: WebDevice; ways: WebProtection['ways'] }) {
  const { origin, protocol } = window.location;
  const address = `${origin}/dns/${device.key}`;
  const host = ways.tls_host === null ? null : `${device.key}.${ways.tls_host}`;
  const { addresses, plain } = ways;
  if (!hasUsableSteps(device.kind, ways))
    return (
      <p className="surface-amber amber pad-m">
        This address isn’t secure, so devices can’t use it. Ask your provider for the https address.
      </p>
    );
  return (
    <Stack gap="4">
      {protocol !== 'https:' && (
        <p className="surface-amber amber pad-m">Devices need a secure address. Open Palisade at its https address first.</p>
      )}
      {device.kind === 'apple' && <ForApple address={address} />}
      {device.kind === 'android' && <ForAndroid host={host} address={address} />}
      {device.kind === 'windows' && <ForWindows address={address} addresses={addresses} />}
      {device.kind === 'browser' && <ForBrowser address={address} />}
      {device.kind === 'linux' && <ForLinux host={host} addresses={addresses} address={address} />}
      {(device.kind === 'router' || device.kind === 'other') && (
        <ForNetwork plain={plain} address={address} isRouter={device.kind === 'router'} />
      )}
      {device.kind !== 'other' && <AddressTrial address={address} />}
    </Stack>
  );
}
