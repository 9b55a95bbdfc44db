import sevenZip from '7z-wasm';
import { z } from 'zod';

const factory = z
  .custom<
    (options: object) => Promise<{
      FS: { writeFile(path: string, bytes: Uint8Array): void; readFile(path: string): Uint8Array };
      callMain(words: string[]): unknown;
    }>
  >((value) => typeof value === 'function')
  .parse(sevenZip);

/** An archive by 7-Zip itself; `switches` as on its command line (`-tzip`, `-psecret`). */
export async function packWith7Zip(files: Readonly<Record<string, Buffer>>, switches: readonly string[]): Promise<Buffer> {
  const { FS, callMain } = await factory({ print: () => {}, printErr: () => {} });
  for (const [name, content] of Object.entries(files)) FS.writeFile(name, content);
  callMain(['a', ...switches, 'packed', ...Object.keys(files)]);
  const name = ['packed', ...['zip', '7z', 'tar', 'wim', 'xz', 'bz2', 'gz'].map((ending) => `packed.${ending}`)].find(
    (candidate) => {
      try {
        FS.readFile(candidate);
        return true;
      } catch {
        return false;
      }
    },
  );
  return Buffer.from(FS.readFile(name ?? 'packed'));
}
