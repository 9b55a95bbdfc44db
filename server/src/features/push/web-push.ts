import { createCipheriv, createECDH, createPrivateKey, hkdfSync, type KeyObject, randomBytes, sign } from 'node:crypto';

// A message to a push service: encrypted for one browser (RFC 8291, RFC 8188) and signed by the server's own key (RFC 8292).

const CURVE = 'prime256v1';
/** The order of the group of P-256 (FIPS 186-4, D.1.2.3). */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
/** A single record holds the message: services accept at least 4,096 bytes. */
const RECORD_BYTES = 4_096;
const PAYLOAD_MAXIMUM = 3_000;
const TOKEN_SECONDS = 12 * 3_600;

/** The key of the server for push services. */
export interface PushKey {
  /** Uncompressed point, in base64url. */
  public_key: string;
  private: KeyObject;
}

/** Derives the key from a key of the installation, so that servers of one database share it and none is stored. */
export function pushKeyOf(secret: Buffer): PushKey {
  const wide = BigInt(`0x${Buffer.from(hkdfSync('sha256', secret, '', 'palisade web push 1', 48)).toString('hex')}`);
  const scalar = Buffer.from(((wide % (ORDER - 1n)) + 1n).toString(16).padStart(64, '0'), 'hex');
  const pair = createECDH(CURVE);
  pair.setPrivateKey(scalar);
  const point = pair.getPublicKey();
  const coordinate = (from: number) => point.subarray(from, from + 32).toString('base64url');
  const jwk = { kty: 'EC', crv: 'P-256', x: coordinate(1), y: coordinate(33), d: scalar.toString('base64url') };
  return { public_key: point.toString('base64url'), private: createPrivateKey({ key: jwk, format: 'jwk' }) };
}

/** The `Authorization` of a message to the service at `endpoint`. `subject`: an address of the operator (RFC 8292, section 2.1). `now` is in ms. */
export function pushAuthorization(key: PushKey, endpoint: string, subject: string, now: number): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { aud: new URL(endpoint).origin, exp: Math.floor(now / 1_000) + TOKEN_SECONDS, sub: subject };
  const signed = `${part({ typ: 'JWT', alg: 'ES256' })}.${part(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), { key: key.private, dsaEncoding: 'ieee-p1363' });
  return `vapid t=${signed}.${signature.toString('base64url')}, k=${key.public_key}`;
}

const derive = (secret: Buffer, salt: Buffer, info: Buffer, bytes: number) =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, bytes));

/** Encrypts a message for a browser, as `Content-Encoding: aes128gcm`. @throws for a key that is no point of the curve, and for a message of more than `PAYLOAD_MAXIMUM` bytes. */
export function encryptForBrowser(message: string, { p256dh, auth }: { p256dh: string; auth: string }): Buffer {
  const plain = Buffer.from(message);
  if (plain.length > PAYLOAD_MAXIMUM) throw new Error('The message is too long for push services.');
  const theirs = Buffer.from(p256dh, 'base64url');
  const own = createECDH(CURVE);
  const point = own.generateKeys();
  const shared = own.computeSecret(theirs);
  const secret = derive(
    shared,
    Buffer.from(auth, 'base64url'),
    Buffer.concat([Buffer.from('WebPush: info\0'), theirs, point]),
    32,
  );
  const salt = randomBytes(16);
  const key = derive(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
  const nonce = derive(secret, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  // The last record ends with a 2 (RFC 8188, section 2).
  const sealed = Buffer.concat([cipher.update(plain), cipher.update(Buffer.from([2])), cipher.final(), cipher.getAuthTag()]);
  const head = Buffer.alloc(21);
  salt.copy(head);
  head.writeUInt32BE(RECORD_BYTES, 16);
  head.writeUInt8(point.length, 20);
  return Buffer.concat([head, point, sealed]);
}
