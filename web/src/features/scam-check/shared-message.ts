import { z } from 'zod';

const sharedSchema = z.object({ text: z.string(), files: z.array(z.instanceof(File)) });
const ANSWER_MS = 3_000;

/**
 * Takes content that the device, or a page of another site, has shared with the installed application. The person may not have pressed anything in this application.
 * The service worker keeps the content in memory; undefined if it is gone.
 */
export async function takeShared(id: string): Promise<z.infer<typeof sharedSchema> | undefined> {
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
  return shared;
}
