import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { NewPasskey, PasskeyAssertion, PasskeyCreation, PasskeyRequest } from '@palisade/contract/two-factor';

// As much of an authenticator and of the browser before it as passkeys take (WebAuthn level 3, sections 6 and 8.7; CTAP 2.1): ES256, attestation "none".

type Cbor = number | string | Buffer | Map<number | string, Cbor>;

function head(type: number, length: number): Buffer {
  const major = type << 5;
  if (length < 24) return Buffer.from([major | length]);
  return length < 256 ? Buffer.from([major | 24, length]) : Buffer.from([major | 25, length >> 8, length & 0xff]);
}

/** RFC 8949, for what authenticators say. */
function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, entry]) => [cbor(key), cbor(entry)])]);
}

const FLAGS = { present: 0x01, verified: 0x04, attested: 0x40 } as const;

/** Change of an answer that makes it wrong. */
interface Lies {
  origin?: string;
  rp_id?: string;
  /** Whether the device has checked who holds it. */
  verified?: boolean;
  counter?: number;
  challenge?: string;
}

/** One passkey on one device. `origin` is the page that it is used on. */
export class Authenticator {
  readonly #id = randomBytes(16);
  readonly #private_key: KeyObject;
  readonly #public_key: KeyObject;
  readonly #origin: string;
  #user_handle = '';
  #counter = 0;

  constructor(origin: string) {
    this.#origin = origin;
    const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#private_key = keys.privateKey;
    this.#public_key = keys.publicKey;
  }

  #client(type: 'webauthn.create' | 'webauthn.get', challenge: string, { origin = this.#origin, ...lies }: Lies): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge: lies.challenge ?? challenge, origin, crossOrigin: false }));
  }

  #device(rp_id: string, { verified = true, counter, ...lies }: Lies, attested?: Buffer): Buffer {
    const flags = FLAGS.present | (verified ? FLAGS.verified : 0) | (attested ? FLAGS.attested : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter ?? this.#counter);
    const host = createHash('sha256')
      .update(lies.rp_id ?? rp_id)
      .digest();
    return Buffer.concat([host, Buffer.from([flags]), count, attested ?? Buffer.alloc(0)]);
  }

  create({ challenge, rp, user }: PasskeyCreation, lies: Lies = {}): NewPasskey {
    this.#user_handle = user.id;
    const { x = '', y = '' } = this.#public_key.export({ format: 'jwk' });
    const key = new Map<number | string, Cbor>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ]);
    const length = Buffer.from([0, this.#id.length]);
    const attested = Buffer.concat([Buffer.alloc(16), length, this.#id, cbor(key)]);
    const attestation = new Map<number | string, Cbor>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', this.#device(rp.id, lies, attested)],
    ]);
    const id = this.#id.toString('base64url');
    return {
      id,
      rawId: id,
      type: 'public-key',
      response: {
        clientDataJSON: this.#client('webauthn.create', challenge, lies).toString('base64url'),
        attestationObject: cbor(attestation).toString('base64url'),
        transports: ['internal'],
      },
    };
  }

  get({ challenge, rpId }: PasskeyRequest, lies: Lies = {}): PasskeyAssertion {
    this.#counter += 1;
    const client = this.#client('webauthn.get', challenge, lies);
    const device = this.#device(rpId, lies);
    const signed = Buffer.concat([device, createHash('sha256').update(client).digest()]);
    const id = this.#id.toString('base64url');
    return {
      id,
      rawId: id,
      type: 'public-key',
      response: {
        clientDataJSON: client.toString('base64url'),
        authenticatorData: device.toString('base64url'),
        signature: sign('sha256', signed, this.#private_key).toString('base64url'),
        userHandle: this.#user_handle,
      },
    };
  }
}
