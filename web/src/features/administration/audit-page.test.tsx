import { checkAudit, listAudit } from '@palisade/contract/audit';
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, it } from 'vitest';
import { MARIA } from '#api/fake-records.ts';
import { FakeServer, reply } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { AuditPage } from './audit-page.tsx';
import { AUDIT_CHECK, AUDIT_ENTRY, OMAR } from './fake-administration.ts';

const server = FakeServer.ofEachTest({ ...MARIA, role: 'admin' });

beforeEach(() => {
  server.answer(listAudit, [AUDIT_ENTRY]);
  server.answer(checkAudit, AUDIT_CHECK);
});

it('tells in words what happened, to whom, and who did it', async () => {
  const gone = { ...AUDIT_ENTRY, seq: 11, kind: 'account_deleted' as const, subject: null, actor: null, actor_id: OMAR.id };
  server.answer(listAudit, [AUDIT_ENTRY, { ...gone, address: null, client: null, details: {} }]);
  renderForTest(<AuditPage />);
  const [change, deletion] = await screen.findAllByRole('listitem');
  expect(change).toHaveTextContent('maria@example.com changed the role of omar@example.com from customer to support');
  // Without a count, unlike entries that are grouped.
  expect(screen.getByText('Firefox on Linux · 203.0.113.7')).toBeVisible();
  expect(deletion).toHaveTextContent(`deleted account ${OMAR.id} deleted the account`);
  expect(screen.getAllByText(`12:${AUDIT_ENTRY.hash}`).at(-1)).not.toBeVisible();
});

it('groups equal entries of a day, each with its checkpoint', async () => {
  const before = { ...AUDIT_ENTRY, seq: 11, hash: 'b'.repeat(64), at: '2026-11-20T09:00:00.000Z' };
  server.answer(listAudit, [AUDIT_ENTRY, before, { ...before, seq: 10, at: '2026-11-18T09:00:00.000Z' }]);
  renderForTest(<AuditPage />);
  await userEvent.setup().click(await screen.findByText('2 times · Firefox on Linux · 203.0.113.7'));
  expect(screen.getByText(`11:${before.hash}`)).toBeVisible();
  expect(screen.getAllByText(/changed the role of/u)).toHaveLength(2);
});

it('is narrowed to a common time, and says its days', async () => {
  renderForTest(<AuditPage />);
  const user = userEvent.setup();
  await user.selectOptions(screen.getByLabelText('Time'), 'This year');
  expect(screen.getByText(/^Jan 1, \d{4} to /u)).toBeVisible();
  expect(screen.queryByLabelText('From')).not.toBeInTheDocument();
  await user.selectOptions(screen.getByLabelText('Time'), 'Choose dates');
  expect(screen.getByLabelText('From')).toHaveValue(`${new Date().getFullYear()}-01-01`);
});

it('says that the log is whole, or which entry does not hold', async () => {
  renderForTest(<AuditPage />);
  expect(await screen.findByText('12 entries verified')).toBeVisible();
  expect(screen.getAllByText(AUDIT_CHECK.head)[0]).not.toBeVisible();
  await userEvent.setup().click(screen.getByText('Show the checkpoint'));
  expect(screen.getAllByText(AUDIT_CHECK.head)[0]).toBeVisible();
  server.answer(checkAudit, { ...AUDIT_CHECK, entries: 4, fault: { seq: 5, reason: 'It was changed.' } });
  await userEvent.setup().click(screen.getByRole('button', { name: 'Check again' }));
  expect(await screen.findByText('Something is wrong with entry 5. It was changed.')).toBeVisible();
  server.answer(checkAudit, { ...AUDIT_CHECK, checked_from: 3 });
  await userEvent.setup().click(screen.getByRole('button', { name: 'Check again' }));
  expect(await screen.findByText(/Entries before 3 were not checked\. They expired, or their key was replaced\./)).toBeVisible();
});

it('has nothing to verify, and nothing to widen, before the first entry', async () => {
  server.answer(listAudit, []);
  server.answer(checkAudit, { ...AUDIT_CHECK, entries: 0 });
  renderForTest(<AuditPage />);
  expect(await screen.findByText('There’s nothing to verify yet.')).toBeVisible();
  expect(await screen.findByText('No entries yet')).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Show everything' })).toBeNull();
});

it('is searched by person and by kind', async () => {
  renderForTest(<AuditPage />);
  const user = userEvent.setup();
  await screen.findAllByRole('listitem');
  const people: (string | null)[] = [];
  server.on(listAudit, (query) => {
    people.push(query.get('person'));
    return reply(listAudit, []);
  });
  await user.selectOptions(screen.getByLabelText('What'), 'Account disabled');
  await user.type(screen.getByLabelText('Person'), 'nobody');
  // The answer about the kind alone is the same.
  await waitFor(() => expect(people.at(-1)).toBe('nobody'));
  expect(await screen.findByText('Nothing matches')).toBeVisible();
  server.answer(listAudit, [AUDIT_ENTRY]);
  await user.click(screen.getByRole('button', { name: 'Show everything' }));
  expect(screen.getByLabelText('Person')).toHaveValue('');
  expect(screen.getByLabelText('What')).toHaveValue('');
  expect(await screen.findAllByRole('listitem')).toHaveLength(1);
});
