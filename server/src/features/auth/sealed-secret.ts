import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { openKeyFile } from '#platform/key-file.ts';

/** Small secrets that the server must read again, encrypted with a key of the installation, so that the database alone does not reveal them. */
export interface SealedSecrets {
  /** `bound` names the owner of the secret; it can be decrypted for no other. */
  seal(secret: Buffer, bound: string): string;
  /** @throws when it was changed, or was sealed with another key. */
  open(sealed: string, bound: string): Buffer;
}

const CIPHER = 'aes-256-gcm';
/** Random nonces are safe for 2^32 seals with one key (NIST SP 800-38D section 8.3). */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** @throws when the key cannot be made or read. */
export function openSealedSecrets(key_file: string): SealedSecrets {
  const key = openKeyFile(key_file);
  return {
    seal(secret, bound) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(bound));
      return Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]).toString('base64url');
    },

    open(sealed, bound) {
      const bytes = Buffer.from(sealed, 'base64url');
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(bound));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    },
  };
}
