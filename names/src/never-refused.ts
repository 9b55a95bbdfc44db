import { NameList } from './name-list.ts';
import { wireName } from './wire.ts';

/**
 * Names of connectivity checks of operating systems, and of push services. A phone that cannot reach them switches to mobile data.
 * From the vendors' documentation: Apple 101555 and 102266, Android's `connectivitycheck`, Microsoft's network connectivity status indicator, Firefox, GNOME, Ubuntu, Debian.
 */
const SYSTEM_NAMES = [
  'captive.apple.com',
  'gsp1.apple.com',
  'push.apple.com',
  'connectivitycheck.gstatic.com',
  'connectivitycheck.android.com',
  'clients3.google.com',
  'mtalk.google.com',
  'fcm.googleapis.com',
  'www.msftconnecttest.com',
  'ipv6.msftconnecttest.com',
  'www.msftncsi.com',
  'dns.msftncsi.com',
  'wns.windows.com',
  'detectportal.firefox.com',
  'nmcheck.gnome.org',
  'connectivity-check.ubuntu.com',
  'network-test.debian.org',
  'ipv4only.arpa',
];

/** The list of names that no rule refuses: `SYSTEM_NAMES`, and the installation's `own` names. */
export function neverRefused(own: readonly string[]): NameList {
  return NameList.of([...SYSTEM_NAMES, ...own].map(wireName).filter((name) => name !== undefined));
}
