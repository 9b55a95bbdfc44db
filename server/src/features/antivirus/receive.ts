import { rm } from 'node:fs/promises';
import type { Scan } from '@palisade/contract/antivirus';
import type { FastifyRequest } from 'fastify';
import { receiveUpload, type Upload } from '#platform/upload.ts';
import type { Antivirus } from './antivirus.ts';
import { HELD_BYTES_MAXIMUM, type Spool } from './spool.ts';
import type { UploadAdmission } from './upload-admission.ts';

/** Largest upload in bytes, how long one may pause, in ms, how slow it may be, and how long it may take in all, in ms. */
export interface UploadLimits {
  maximum: number;
  stall_ms: number;
  slow: { window_ms: number; bytes: number };
  total_ms: number;
}

interface Expected {
  user_id: string;
  /** The page's key for the file. */
  key?: string | undefined;
  /** Replaces the filename that is sent with it. */
  filename?: string;
  /** Bytes, where it may have fewer than any upload. */
  maximum?: number;
  /** Called once a file has arrived completely, with its scan id, before it is read. An exception refuses the upload and removes the file. */
  accept?: (scan_id: string, arrived: Pick<Upload, 'size' | 'sha256'>) => Promise<void>;
}

/**
 * Receives the one file of a multipart request, and returns its scan. Every file that the server scans for a person arrives through this function. @throws Problem like
 * `receiveUpload`, `UploadAdmission.during` and `Antivirus.scan`
 */
export type Receive = (request: FastifyRequest, expected: Expected) => Promise<Scan>;

/** The announced size of a request, in bytes; 0 if there is none, or it is invalid. */
function announcedBytes({ headers }: FastifyRequest): number {
  const announced = Number(headers['content-length'] ?? 0);
  return Number.isSafeInteger(announced) && announced > 0 ? announced : 0;
}

export function createReceive(parts: {
  antivirus: Pick<Antivirus, 'newScanId' | 'scan'>;
  spool: Spool;
  admission: Pick<UploadAdmission, 'during'>;
  limits: UploadLimits;
}): Receive {
  const { antivirus, spool, admission, limits } = parts;
  return (request, { user_id, key, filename, maximum = limits.maximum, accept }) =>
    admission.during({ user_id, key }, async (signal) => {
      const id = antivirus.newScanId();
      const take = (size: number) => spool.take({ id, user_id, size });
      // A file for which there is no room is refused before its body is read.
      take(0);
      spool.reserve({ id, user_id, size: announcedBytes(request) });
      const where = { path: spool.arriving(id), memory_bytes: HELD_BYTES_MAXIMUM };
      const most = { ...limits, maximum: Math.min(maximum, limits.maximum) };
      const forget = async (error: unknown): Promise<never> => {
        await spool.remove(id);
        await rm(where.path, { force: true });
        throw error;
      };
      const upload = await receiveUpload(request, { field: 'file', ...where, signal, take, ...most }).catch(forget);
      await accept?.(id, upload).catch(forget);
      return await antivirus.scan({ id, user_id, key, signal, ...upload, ...(filename === undefined ? {} : { filename }) });
    });
}
