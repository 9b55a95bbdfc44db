import {
  closedByMarks,
  closedFormat,
  closedWhereUnknown,
  type Format,
  hexMark,
  mark,
  withBits,
} from '#scanner/formats/format.ts';

// Formats of encrypted files.

/** A backup of adb: four lines of text, then zlib or tar. The third line says whether it is compressed, the last which encryption it has. */
const ANDROID_BACKUP = /^ANDROID BACKUP\n\d{1,2}\n[01]\nAES-256\n/;
const ANDROID_BACKUP_BYTES = 32;

function isEncryptedBackup(head: Buffer): boolean {
  return head[0] === 0x41 && ANDROID_BACKUP.test(head.toString('latin1', 0, ANDROID_BACKUP_BYTES));
}

/** Formats that are recognised by their first bytes. */
export const closedSecrets: readonly Format[] = [
  closedByMarks('openssl-enc', 'file of openssl enc', [mark('Salted__')], 'encrypted'),
  closedByMarks('age', 'age', [mark('age-encryption.org/v1\n'), mark('-----BEGIN AGE ENCRYPTED FILE-----')], 'encrypted'),
  closedByMarks('ansible-vault', 'Ansible Vault', [mark('$ANSIBLE_VAULT;1.')], 'encrypted'),
  closedByMarks('aes-crypt', 'AES Crypt', [mark('AES\x01\0'), mark('AES\x02\0')], 'encrypted'),
  closedByMarks('keepass', 'KeePass', [hexMark('03d9a29a67fb4bb5'), hexMark('03d9a29a65fb4bb5')], 'encrypted'),
  closedFormat({
    id: 'android-backup',
    title: 'backup of Android',
    detail: 'encrypted',
    recognise: withBits(184, isEncryptedBackup),
  }),
];

/** Formats that are recognised only if the file matches no other format. */
export const unknownSecrets: readonly Format[] = [
  closedWhereUnknown('axcrypt', 'AxCrypt', [hexMark('c0b9072e4f93f146a015792ca1d9e821')], 'encrypted'),
];
