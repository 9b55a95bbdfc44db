import { readFileSync } from 'node:fs';
import type { Disk } from '#platform/disk.ts';
import { openS3Blobs, type S3Blobs } from './s3-blobs.ts';
import type { S3Location } from './storage-url.ts';

/**
 * Opens the store of STORAGE_URL and sends one request, so that a wrong setting is reported at the start. `folder` holds files before they are sent. @throws Error that says
 * in one line what to set.
 */
export async function openStorage(parts: { location: S3Location; folder: string; disk: Disk }): Promise<S3Blobs> {
  const { location, folder, disk } = parts;
  const store = openS3Blobs({ location: { ...location, secret_key: secretOf(location) }, folder, disk });
  try {
    await store.check();
    return store;
  } catch (error) {
    store.close();
    throw error;
  }
}

function secretOf({ secret_key, secret_file = '' }: S3Location): string {
  if (secret_key !== undefined) return secret_key;
  try {
    const secret = readFileSync(secret_file, 'utf8').trim();
    if (secret !== '') return secret;
  } catch (error) {
    throw new Error(`We can’t read the file ${secret_file} of STORAGE_SECRET_FILE. Save the store’s secret in it.`, {
      cause: error,
    });
  }
  throw new Error(`The file ${secret_file} of STORAGE_SECRET_FILE is empty. Save the store’s secret in it.`);
}
