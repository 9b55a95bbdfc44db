import { z } from 'zod';
import type { ToCheck } from '#domain/scam/to-check.ts';

const sharedSchema = z.object({ text: z.string(), file: z.instanceof(File).nullable() });
const ANSWER_MS = 3_000;

/** Takes a message that the device shared with the installed application. The service worker holds it in memory; undefined where it is gone. */
export async function takeShared(id: string): Promise<ToCheck | undefined> {
  const worker = (await navigator.serviceWorker?.getRegistration())?.active;
  if (!worker) return undefined;
  const { port1, port2 } = new MessageChannel();
  const answer = new Promise<unknown>((resolve) => {
    port1.onmessage = ({ data }) => resolve(data);
    setTimeout(() => resolve(undefined), ANSWER_MS);
  });
  worker.postMessage({ kind: 'take_shared', id }, [port2]);
  const shared = sharedSchema.safeParse(await answer).data;
  port1.close();
  if (shared === undefined) return undefined;
  return shared.file === null ? { text: shared.text } : { file: shared.file };
}
