import { listDevices } from '@palisade/contract/devices';
import { listRules, type Revision, type Rule } from '@palisade/contract/firewall';
import { readConfig } from '@palisade/contract/platform';
import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { vi } from 'vitest';
import { CONFIG } from '#api/fake-records.ts';
import { FakeServer, page } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { FirewallPage } from './firewall-page.tsx';

export let server: FakeServer;
/** Suppresses the output of console.error. */
export const log = () => vi.spyOn(console, 'error').mockReturnValue();

/** Creates a server without rules and devices, before each test. */
export function begin(): void {
  server = new FakeServer();
  server.answer(readConfig, CONFIG);
  server.answer(listDevices, []);
}

/** Opens the page with these rules. */
export const open = (...rules: Rule[]) => openAt('/firewall', ...rules);

/** Opens the page at an address. */
export function openAt(address: string, ...rules: Rule[]) {
  answerRules(rules);
  renderForTest(<FirewallPage />, address);
  return userEvent.setup();
}

/** Replies to the list in pages, as the server does. */
export function answerRules(rules: readonly Rule[]) {
  server.on(listRules, (query) => {
    const from = query.has('cursor') ? rules.findIndex(({ id }) => id === query.get('cursor')) + 1 : 0;
    const rows = rules.slice(from, from + Number(query.get('limit')));
    const next = from + rows.length < rules.length ? rows.at(-1)?.id : undefined;
    return page(listRules, rows, { ...(next !== undefined && { next }), ...(from === 0 && { total: rules.length }) });
  });
}

let revs = 0;
export function revisionOf(parts: Partial<Revision>): Revision {
  revs += 1;
  return {
    id: `01930000-0000-7000-a000-${String(revs).padStart(12, '0')}`,
    rev: revs,
    kind: 'edited',
    created_at: '2026-11-20T10:00:00.000Z',
    rule_name: 'Office',
    added: 0,
    changed: 1,
    removed: 0,
    ...parts,
  };
}

export const row = async (name: string) => within(await screen.findByRole('row', { name: new RegExp(name, 'u') }));
export const status = (name: string) => screen.findByRole('switch', { name: `Status of ${name}` });
