import { lookup as lookupName } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { parseIp } from '@palisade/contract/ip-address';
import type { ControlAddress } from '#firewall/compile.ts';

/** Resolves the server's name each time, and remembers the last result in case name resolution fails. */
export interface Resolver {
  /** Addresses and port of the server; empty if the name was never resolved. */
  control(): Promise<readonly ControlAddress[]>;
  /** Resolves with the system's resolver, and falls back to the last result. */
  lookup: LookupFunction;
}

interface Found {
  address: string;
  family: number;
}

export function createResolver(server: URL): Resolver {
  const host = server.hostname.replace(/^\[(.*)\]$/u, '$1');
  const port = Number(server.port || (server.protocol === 'https:' ? 443 : 80));
  let last: readonly Found[] = isIP(host) === 0 ? [] : [{ address: host, family: isIP(host) }];

  const resolve = () =>
    new Promise<readonly Found[]>((done) => {
      if (isIP(host) !== 0) return done(last);
      lookupName(host, { all: true }, (error, found) => {
        if (error === null && found.length > 0) last = found;
        done(last);
      });
    });

  return {
    async control() {
      return (await resolve()).flatMap(({ address }) => {
        const literal = parseIp(address);
        return literal === undefined ? [] : [{ address: literal, port }];
      });
    },
    lookup(_name, options, callback) {
      void resolve().then((found) => {
        const [first] = found;
        if (first === undefined) {
          callback(Object.assign(new Error(`${host} could not be resolved`), { code: 'ENOTFOUND' }), '', 0);
        } else if (options.all === true) {
          callback(null, [...found]);
        } else {
          callback(null, first.address, first.family);
        }
      });
    },
  };
}
