import { canonicalEmail } from '@palisade/contract/email';
import { z } from 'zod';

// Schemas for the formats of settings.

function isDecodable(address: string): boolean {
  try {
    return decodeURIComponent(address) !== '';
  } catch {
    return false;
  }
}

export const blankIsUnset = (value: unknown) => (typeof value === 'string' && value.trim() === '' ? undefined : value);

export const text = z.preprocess(blankIsUnset, z.string().trim().optional());

/** A path. Without a shell (systemd, compose) `~` is not expanded and would create a folder of that name. */
export const path = text.refine((value) => value?.startsWith('~') !== true, 'must be a full path: only a shell replaces ~');

export const webAddress = z.preprocess(
  blankIsUnset,
  z.url({ protocol: /^https?$/, error: 'must start with http:// or https://' }).optional(),
);

/** The address at which people open the application, which must be the root of its host. */
export const publicAddress = webAddress.refine((value) => {
  const address = URL.parse(value ?? '');
  return address === null || (address.pathname === '/' && address.search === '' && address.hash === '');
}, 'must have no path, like https://palisade.example.com: the pages are served at the root of their host, and not below a path');

/** Proxies and networks of proxies. A network of all addresses is refused: any client could then forge its address. */
export const proxyAddress = z
  .union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
    error: 'must be a list of IP addresses or networks (10.0.0.0/8), separated by commas',
  })
  .refine(
    (value) => !/\/0+$/.test(value),
    'must not contain a network of all addresses (/0): any client could then name the address of its request',
  );

/** An address with credentials: clients decode it and would fail on an unescaped %. */
export const accountAddress = (protocol: RegExp, error: string) =>
  z.preprocess(
    blankIsUnset,
    z.url({ protocol, error }).refine(isDecodable, 'must use %25 for a % in its account or password').optional(),
  );

/** An address of a mail server, for which there is no default. */
export const mailAddress = (protocol: RegExp, error: string, example: string) =>
  accountAddress(protocol, error).refine(
    (value) => value === undefined || URL.parse(value)?.hostname !== '',
    `must name a mail server, like ${example}`,
  );

/** In the normalized form in which addresses are compared. */
export const emailAddress = (error: string) =>
  z.string().transform((address, context): string => {
    const email = canonicalEmail(address);
    if (email !== undefined) return email;
    context.addIssue({ code: 'custom', message: error, input: address });
    return z.NEVER;
  });

export const commaList = text.transform((value) =>
  (value ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

export const SECOND_MS = 1_000;

const PORT_RANGE = 'must be a port number from 0 to 65535';

/** A number in decimal digits only. `Number` would also accept `0x50`, `1e3` and a blank. */
const digits = (error: string) =>
  z.union(
    [
      z.number(),
      z
        .string()
        .trim()
        .regex(/^\d{1,15}$/, error)
        .transform(Number),
    ],
    { error },
  );

export const portNumber = digits(PORT_RANGE).pipe(z.number().min(0, PORT_RANGE).max(65_535, PORT_RANGE));

/** A whole number of `unit`. */
export const countOf = (unit: string, least: number, most: number, fallback: number) => {
  const error = `must be a whole number of ${unit} from ${least} to ${most}`;
  return z.preprocess(blankIsUnset, digits(error).pipe(z.number().min(least, error).max(most, error)).default(fallback));
};

/** A number of days, or for ever. */
const KEPT_FOR = 'must be "forever", or a whole number of days from 1 to 36500';

export const keptFor = text.transform((value, context) => {
  if (value === undefined || value === 'forever') return undefined;
  const days = /^\d{1,5}$/.test(value) ? Number(value) : 0;
  if (days >= 1 && days <= 36_500) return days;
  context.addIssue(KEPT_FOR);
  return z.NEVER;
});

const UNIT_BYTES = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 } as const;

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A number followed by a unit of `units`. */
function measure<Unit extends string>(pattern: RegExp, units: Readonly<Record<Unit, number>>, usual: string, error: string) {
  return text.transform((value = usual, context) => {
    const [, number = '', unit = ''] = pattern.exec(value) ?? [];
    const factor = Object.entries<number>(units).find(([name]) => name === unit)?.[1];
    if (number !== '' && factor !== undefined) return Number(number) * factor;
    context.addIssue(error);
    return z.NEVER;
  });
}

export const bytes = (usual: string) => measure(/^(\d{1,9})([KMGT]?)$/, UNIT_BYTES, usual, 'must be a size, like 512M or 4G');

export const duration = (usual: string) => measure(/^([1-9]\d{0,5})([smhd])$/, UNIT_MS, usual, 'must be a time, like 30m or 1h');
