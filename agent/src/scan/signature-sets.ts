import { join } from 'node:path';
import { type Posture, type Signatures, signaturesSchema } from '@palisade/contract/agent';
import { digestOf } from '@palisade/scanner/digest';
import { ARCHIVE_BYTES_MAXIMUM, BadArchive, unpackSignatures } from '@palisade/scanner/signature-archive';
import { type SignatureFiles, signatureFilesSchema } from '@palisade/scanner/signature-files';
import { z } from 'zod';
import { createStore } from '#agent/store.ts';
import { makeOwnFolder, ownSize, removeOwn, removeOwnFolder } from '#files/own-state.ts';

/**
 * The signatures that this computer scans with: the bundled ones, or the newest valid set of the server. A set is used only if its file has
 * the announced hash and length, its number is higher than that of the set in use, and it passes the self test; otherwise the current set stays in use.
 */
export interface SignatureSets {
  files(): SignatureFiles;
  /** Downloads the server's set. @returns whether it is now in use */
  want(signatures: Signatures | null): Promise<boolean>;
  /** Whether the signatures in use are the server's newest. */
  fresh(): Pick<Posture, 'state' | 'evidence'>;
}

const stateSchema = z.object({ number: z.int(), version: z.string(), files: signatureFilesSchema });
/** Delay before a failed download is retried, in ms. An invalid set is not retried. */
const AGAIN_MS = 10 * 60_000;

export async function openSignatureSets(parts: {
  /** Folder of the downloaded sets. */
  folder: string;
  /** Folder of the bundled rules. */
  built_in: string;
  download: (signatures: Signatures, path: string) => Promise<void>;
  /** Runs the self test of a set. Returns the fault, or undefined. */
  test: (files: SignatureFiles & { samples_folder: string }) => Promise<string | undefined>;
  log: (line: string) => void;
  now: () => number;
}): Promise<SignatureSets> {
  const { folder, built_in, download, test, log, now } = parts;
  const store = createStore(join(folder, 'current.json'), stateSchema);
  const kept = await store.read();
  // A stored set without its files is ignored.
  const is_there = kept !== undefined && (await ownSize(kept.files.rules_folder)) !== undefined;
  let current: z.infer<typeof stateSchema> = is_there
    ? kept
    : { number: 0, version: 'as installed', files: { rules_folder: built_in, feeds: [] } };
  let wanted: Signatures | null = null;
  let refused: { sha256: string; reason: string; until: number } | undefined;
  let turn = Promise.resolve(false);

  /** Downloads, checks and activates a set. @throws BadArchive with the reason why the set is invalid, or Error if the download failed */
  async function take(signatures: Signatures): Promise<void> {
    const { number, version, sha256, bytes } = signatures;
    if (bytes > ARCHIVE_BYTES_MAXIMUM) throw new BadArchive('It is too large.');
    await makeOwnFolder(folder);
    const archive = join(folder, 'fetched');
    const set = join(folder, String(number));
    try {
      await download(signatures, archive);
      const size = await ownSize(archive);
      if (size !== bytes || (await digestOf(archive)) !== sha256)
        throw new BadArchive('It does not have the hash that the server said.');
      await removeOwnFolder(set);
      await makeOwnFolder(set);
      const { samples_folder, ...files } = await unpackSignatures(archive, set);
      const wrong = await test({ ...files, samples_folder });
      if (wrong !== undefined) throw new BadArchive(wrong);
      const before = current.number;
      await store.write({ number, version, files });
      current = { number, version, files };
      if (before > 0) await removeOwnFolder(join(folder, String(before)));
    } catch (error) {
      await removeOwnFolder(set);
      throw error;
    } finally {
      await removeOwn(archive);
    }
  }

  async function look(signatures: Signatures): Promise<boolean> {
    if (signatures.number <= current.number) return false;
    if (refused?.sha256 === signatures.sha256 && now() < refused.until) return false;
    try {
      await take(signatures);
      refused = undefined;
      log(`signatures ${signatures.version} are in use`);
      return true;
    } catch (error) {
      const is_bad = error instanceof BadArchive;
      const reason = error instanceof Error ? error.message : String(error);
      refused = { sha256: signatures.sha256, reason, until: is_bad ? Number.POSITIVE_INFINITY : now() + AGAIN_MS };
      log(`signatures ${signatures.version} are not used: ${reason}`);
      return false;
    }
  }

  return {
    files: () => current.files,
    want(signatures) {
      wanted = signatures === null ? null : signaturesSchema.parse(signatures);
      if (signatures === null) return Promise.resolve(false);
      turn = turn.then(() => look(signatures)).catch(() => false);
      return turn;
    },
    fresh() {
      if (wanted === null) return { state: 'unknown', evidence: 'The server has not said which signatures are the newest.' };
      if (current.number >= wanted.number)
        return { state: 'pass', evidence: `The signatures are the server’s newest (${current.version}).` };
      const why = refused?.sha256 === wanted.sha256 ? `: ${refused.reason}` : '.';
      return { state: 'fail', evidence: `The server has newer signatures (${wanted.version}), which are not in use${why}` };
    },
  };
}
