import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@palisade/scanner/test/eventually';
import { needing } from '@palisade/scanner/test/needs';
import { afterAll, expect, it } from 'vitest';
import { createNft } from '#firewall/nft.ts';
import { createNamespace, endNamespaces, no_namespaces, temporaryFolder } from './namespace.ts';

afterAll(endNamespaces);

/** Programs that were started with a path in their arguments. */
const startedWith = (path: string) =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/u.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(path);
    } catch {
      return false;
    }
  }).length;

needing('a kernel with nftables', no_namespaces === undefined).describe('an nft that was begun', () => {
  it('loads its input as a whole, says why it could not, and loads nothing when it is abandoned', async () => {
    const folder = temporaryFolder();
    const nft = createNft([...createNamespace().command, 'nft'], folder);
    expect(await (await nft.begin()).load('add table inet one\n')).toEqual({ ok: true });
    const refused = await (await nft.begin()).load('add table inet two\nadd rule inet two nowhere accept\n');
    expect(refused.ok ? 'loaded' : refused.message).toMatch(/^Error: Could not process rule/u);
    const left = await nft.begin();
    await eventually(() => expect(startedWith(folder)).toBe(1));
    left.cancel();
    await eventually(() => expect(startedWith(folder)).toBe(0));
    expect((await nft.list(['tables']))?.trim()).toBe('table inet one');
    // The files of the transactions are removed after their results.
    await eventually(() => expect(readdirSync(folder)).toEqual([expect.stringMatching(/\.fifo$/u)]));
    const [pipe = ''] = readdirSync(folder);
    expect([statSync(join(folder, pipe)).isFIFO(), statSync(join(folder, pipe)).mode & 0o777]).toEqual([true, 0o600]);
  });

  // proves: device-fault-22
  it('ends with nothing loaded once the agent that was killed before it could load comes again', async () => {
    const folder = temporaryFolder();
    const command = [...createNamespace().command, 'nft'];
    await createNft(command, folder).begin();
    await eventually(() => expect(startedWith(folder)).toBe(1));
    const next = createNft(command, folder);
    const again = await next.begin();
    expect(await again.load('add table inet one\n')).toEqual({ ok: true });
    await eventually(() => expect(startedWith(folder)).toBe(0));
    expect((await next.list(['tables']))?.trim()).toBe('table inet one');
  });
});
