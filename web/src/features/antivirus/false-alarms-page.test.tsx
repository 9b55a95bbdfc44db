import { decideFalseAlarm, type FalseAlarm, listFalseAlarms, reopenFalseAlarm } from '@palisade/contract/quarantine';
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { MARIA, scanOf } from '#api/fake-records.ts';
import { FakeServer, refusal, reply } from '#api/fake-server.ts';
import { createQueryClient } from '#api/query-client.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { FalseAlarmsPage } from './false-alarms-page.tsx';

const server = FakeServer.ofEachTest({ ...MARIA, role: 'admin' });

const REPORT: FalseAlarm = {
  id: '01930000-0000-7000-8000-000000000301',
  user_email: 'maria@example.com',
  user_username: 'maria',
  filename: 'build.zip',
  file_hash: '9f86d081',
  threat_detected: 'Webshell.PHP.EvalRequest',
  threat_member: 'index.php',
  engines: scanOf().engines,
  reason: 'I wrote it myself.',
  status: 'open',
  reported_at: '2026-11-20T10:00:00.000Z',
  decided_at: null,
};

it('shows what was found, who doubts it and why, and takes a decision', async () => {
  server.answer(listFalseAlarms, [REPORT]);
  renderForTest(<FalseAlarmsPage />);
  const row = await screen.findByRole('listitem');
  for (const words of [
    'build.zip',
    'Webshell.PHP.EvalRequest',
    'index.php',
    'maria@example.com',
    'I wrote it myself.',
    '9f86d081',
  ])
    expect(row).toHaveTextContent(words);

  server.answer(decideFalseAlarm, { success: true });
  server.answer(listFalseAlarms, [{ ...REPORT, status: 'confirmed' }]);
  await userEvent.click(screen.getByRole('button', { name: 'Confirm false alarm for build.zip' }));
  await waitFor(() => expect(screen.queryByRole('button', { name: /Confirm threat/u })).not.toBeInTheDocument());
  expect(server.callsOf(decideFalseAlarm)[0]?.body).toEqual({ report_id: REPORT.id, decision: 'confirmed' });
});

it('says why a decision was not taken', async () => {
  server.answer(listFalseAlarms, [REPORT]);
  server.on(decideFalseAlarm, refusal('not_found', { detail: 'This report already has a decision. Reload the list.' }));
  renderForTest(<FalseAlarmsPage />);
  await userEvent.click(await screen.findByRole('button', { name: 'Confirm threat for build.zip' }));
  expect(await screen.findByRole('alert')).toHaveTextContent('This report already has a decision. Reload the list.');
});

it('still says why a decision was not taken once the list shows what somebody else decided, and no more when that is taken back', async () => {
  const decided: FalseAlarm = { ...REPORT, status: 'confirmed', decided_at: '2026-11-20T10:05:00.000Z' };
  let report = REPORT;
  server.on(listFalseAlarms, () => reply(listFalseAlarms, [report]));
  server.on(decideFalseAlarm, refusal('not_found', { detail: 'This report already has a decision. Reload the list.' }));
  server.on(reopenFalseAlarm, refusal('conflict', { detail: 'Someone else changed this decision.' }));
  const queries = createQueryClient();
  renderForTest(<FalseAlarmsPage />, '/', queries);
  const right = await screen.findByRole('button', { name: 'Confirm threat for build.zip' });
  report = decided;
  await userEvent.click(right);
  const undo = await screen.findByRole('button', { name: /^Undo/u });
  expect(screen.getByRole('alert')).toHaveTextContent('This report already has a decision. Reload the list.');

  // The latest that was tried is what is answered.
  report = REPORT;
  await userEvent.click(undo);
  expect(await screen.findByRole('button', { name: 'Confirm false alarm for build.zip' })).toBeVisible();
  expect(screen.getByRole('alert')).toHaveTextContent('Someone else changed this decision.');
  report = decided;
  await userEvent.click(screen.getByRole('button', { name: 'Confirm false alarm for build.zip' }));
  expect(await screen.findByRole('button', { name: /^Undo/u })).toBeVisible();
  expect(screen.getByRole('alert')).toHaveTextContent('This report already has a decision. Reload the list.');
  report = REPORT;
  await queries.invalidateQueries();
  expect(await screen.findByRole('button', { name: 'Confirm false alarm for build.zip' })).toBeVisible();
  expect(screen.queryByRole('alert')).not.toBeInTheDocument();
});

it('takes a decision back, and says when somebody else has changed it', async () => {
  const decided: FalseAlarm = { ...REPORT, status: 'rejected', decided_at: '2026-11-20T10:05:00.000Z' };
  server.answer(listFalseAlarms, [decided]);
  server.on(reopenFalseAlarm, refusal('conflict', { detail: 'Someone else changed this decision.' }));
  renderForTest(<FalseAlarmsPage />);
  const undo = await screen.findByRole('button', { name: 'Undo the decision about build.zip' });
  await userEvent.click(undo);
  expect(await screen.findByRole('alert')).toHaveTextContent('Someone else changed this decision.');

  server.answer(reopenFalseAlarm, { success: true });
  server.answer(listFalseAlarms, [REPORT]);
  await userEvent.click(undo);
  expect(await screen.findByRole('button', { name: 'Confirm false alarm for build.zip' })).toBeVisible();
  expect(server.callsOf(reopenFalseAlarm)[0]?.body).toEqual({ report_id: REPORT.id, decided_at: decided.decided_at });
  expect(screen.queryByRole('alert')).not.toBeInTheDocument();
});

it('says that there are none', async () => {
  server.answer(listFalseAlarms, []);
  renderForTest(<FalseAlarmsPage />);
  expect(await screen.findByText('No disputed results')).toBeVisible();
});
