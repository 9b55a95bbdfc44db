/** A bucket of a store that speaks S3, as `STORAGE_URL` names it. */
export interface S3Location {
  /** `https://host:port` */
  origin: string;
  bucket: string;
  /** The folder of the bucket that holds all objects; empty for the bucket itself. */
  folder: string;
  region: string;
  access_key: string;
  /** Undefined: it is read from `secret_file`. */
  secret_key: string | undefined;
  secret_file: string | undefined;
}

/** The fault of an address, phrased to follow the name of the setting. */
export class StorageUrlError extends Error {
  override name = 'StorageUrlError';
}

const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$/;
const FOLDER = /^[a-z0-9][a-z0-9_-]{0,62}(\/[a-z0-9][a-z0-9_-]{0,62}){0,2}$/;
const REGION = /^[A-Za-z0-9-]{1,63}$/;
const KNOWN = ['region', 'tls'];

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new StorageUrlError('must use %25 for a % in its key or secret');
  }
}

/** Parses `s3://key:secret@host:port/bucket/folder?region=...&tls=0|1`. @throws StorageUrlError, which never holds the secret. */
export function parseStorageUrl(address: string, secret_file: string | undefined): S3Location {
  if (!URL.canParse(address) || !/^s3:\/\/[^/]/.test(address))
    throw new StorageUrlError('must be an address, like s3://key:secret@host:9000/bucket?region=us-east-1');
  // URL knows the default ports of https only, not of s3.
  const url = new URL(address.replace(/^s3:/, 'https:'));
  const unknown = [...url.searchParams.keys()].find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) throw new StorageUrlError(`allows only region and tls after the ?, not ${JSON.stringify(unknown)}`);
  const tls = url.searchParams.get('tls') ?? '1';
  if (tls !== '0' && tls !== '1') throw new StorageUrlError('must have tls=1 or tls=0');
  const region = url.searchParams.get('region') ?? 'us-east-1';
  if (!REGION.test(region)) throw new StorageUrlError('must have a region, like region=eu-central-1');
  const [bucket = '', ...folders] = url.pathname.slice(1).replace(/\/$/, '').split('/');
  if (!BUCKET.test(bucket)) throw new StorageUrlError('must name a bucket after the host: s3://key:secret@host/bucket');
  const folder = folders.join('/');
  if (folder !== '' && !FOLDER.test(folder))
    throw new StorageUrlError('must name a folder of lowercase letters, digits, -, and _ after the bucket, or none');
  const access_key = decoded(url.username);
  const secret_key = decoded(url.password);
  if (access_key === '') throw new StorageUrlError('must include a key: s3://key:secret@host/bucket');
  if (secret_key === '' && secret_file === undefined)
    throw new StorageUrlError('has no secret: add it after the key (s3://key:secret@host/bucket), or set STORAGE_SECRET_FILE');
  if (secret_key !== '' && secret_file !== undefined)
    throw new StorageUrlError('has a secret, and STORAGE_SECRET_FILE is set too: remove one of them');
  const protocol = tls === '1' ? 'https' : 'http';
  return {
    // Drops the protocol's default port.
    origin: new URL(`${protocol}://${url.host}`).origin,
    bucket,
    folder,
    region,
    access_key,
    secret_key: secret_key === '' ? undefined : secret_key,
    secret_file,
  };
}
