import { onTestFinished } from 'vitest';
import { type Prepare, type ProxyKind, runProxy, type TestProxy } from './proxy-programs.ts';

/** A real proxy before the server at `url`, until the test, or all of the file, are over. */
export async function startProxy(
  kind: ProxyKind,
  server: { url: string; at?: number },
  dispose: (end: () => Promise<void>) => void = onTestFinished,
  prepare?: Prepare,
): Promise<TestProxy> {
  const proxy = await runProxy(kind, server, prepare);
  dispose(proxy.stop);
  return proxy;
}
