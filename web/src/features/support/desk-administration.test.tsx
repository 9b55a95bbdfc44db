import { changeCanned, createCanned, exportReport, listCanned, type Report, readReport } from '@palisade/contract/desk';
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ADA, TINA } from '#api/fake-desk.ts';
import { FakeServer, refusal, reply } from '#api/fake-server.ts';
import { startSession } from '#api/session.ts';
import { enter, renderForTest } from '#ui/render-for-test.tsx';
import { AnswersPage } from './answers-page.tsx';
import { ReportsPage } from './reports-page.tsx';

const server = FakeServer.ofEachTest(ADA);

const HELLO = {
  id: TINA.id,
  shortcut: 'hello',
  title: 'Greeting',
  text: 'Good day {{customer}}.',
  updated_at: '2026-11-20T10:00:00.000Z',
};

const FIGURES = {
  opened: 12,
  closed: 10,
  answered: 11,
  first_answer_s: { median: 240, p90: 1_800 },
  resolution_s: { median: 7_200, p90: null },
  ratings: { count: 4, average: 4.5 },
};

const REPORT: Report = {
  from: '2026-09-01',
  to: '2026-11-20',
  time_zone: 'Europe/Vienna',
  total: FIGURES,
  weeks: [{ ...FIGURES, week: '2026-11-16' }],
  people: [{ ...FIGURES, user_id: TINA.id, username: 'tina' }],
  response_s: 240,
};

beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue();
  server.answer(listCanned, [HELLO]);
  server.answer(readReport, REPORT);
});

describe('canned answers', () => {
  it('are added, and it is said at the field what is wrong', async () => {
    const errors = [{ field: 'shortcut', message: 'There is one already.' }];
    server.on(createCanned, refusal('invalid_field', { errors }));
    renderForTest(<AnswersPage />);
    const user = userEvent.setup();
    await user.click(await screen.findByRole('button', { name: 'New reply' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'New reply' }));
    await user.type(dialog.getByRole('textbox', { name: 'Shortcut' }), 'bye');
    await enter(user, dialog.getByRole('textbox', { name: 'Title' }), 'Farewell');
    await enter(user, dialog.getByRole('textbox', { name: 'Text' }), 'All the best.');
    await user.click(dialog.getByRole('button', { name: 'Save' }));
    expect(await dialog.findByText('There is one already.')).toBeVisible();
    server.answer(createCanned, { ...HELLO, shortcut: 'bye' });
    await user.click(dialog.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument());
    expect(server.callsOf(createCanned).at(-1)?.body).toEqual({ shortcut: 'bye', title: 'Farewell', text: 'All the best.' });
  });

  it('are read by technicians, who cannot change them', async () => {
    startSession({ access_token: 'token-1', user_info: TINA });
    renderForTest(<AnswersPage />);
    expect(await screen.findByText(HELLO.text)).toBeVisible();
    expect(screen.getByText('Only administrators can change these.')).toBeVisible();
    expect(screen.queryByRole('button', { name: /New reply|Greeting/u })).toBeNull();
  });

  it('are changed', async () => {
    const path = `/admin/canned-answers/${HELLO.id}` as const;
    server.on({ ...changeCanned, path }, reply(changeCanned, HELLO));
    renderForTest(<AnswersPage />);
    const user = userEvent.setup();
    await user.click(await screen.findByRole('button', { name: /\/hello.*Greeting/u }));
    await user.type(await screen.findByRole('textbox', { name: 'Title' }), '!');
    await user.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument());
    expect(server.calls.find((call) => call.path === path)?.body).toMatchObject({ title: 'Greeting!' });
  });

  it('keep what was typed over Escape and a reload, until it is saved or given up', async () => {
    const [title, kept] = ['Title', 'We restored what you typed here. It isn’t saved yet.'];
    const user = userEvent.setup();
    const openNew = async () => {
      await user.click(await screen.findByRole('button', { name: 'New reply' }));
      await screen.findByRole('dialog');
    };
    renderForTest(<AnswersPage />);
    await openNew();
    expect(screen.queryByText(kept)).not.toBeInTheDocument();
    await enter(user, screen.getByRole('textbox', { name: title }), 'Farewell');
    await user.keyboard('{Escape}');
    cleanup();
    renderForTest(<AnswersPage />);
    await user.click(await screen.findByRole('button', { name: /\/hello.*Greeting/u }));
    expect(screen.getByRole('textbox', { name: title })).toHaveValue('Greeting');
    await user.click(screen.getByRole('button', { name: 'Cancel' }));
    await openNew();
    expect(screen.getByRole('textbox', { name: title })).toHaveValue('Farewell');
    expect(screen.getByText(kept)).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Cancel' }));
    await openNew();
    expect(screen.getByRole('textbox', { name: title })).toHaveValue('');
    expect(screen.queryByText(kept)).not.toBeInTheDocument();
    await enter(user, screen.getByRole('textbox', { name: title }), 'Farewell');
    server.answer(createCanned, HELLO);
    await user.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument());
    await openNew();
    expect(screen.getByRole('textbox', { name: title })).toHaveValue('');
  });
});

describe('reports', () => {
  // proves: support-staff-26
  it('tell how much was asked, how fast it was answered, by week and by person', async () => {
    server.answer(readReport, { ...REPORT, weeks: [{ ...FIGURES, week: '2026-11-09' }, ...REPORT.weeks] });
    renderForTest(<ReportsPage />);
    expect(await screen.findByRole('region', { name: 'First answer' })).toHaveTextContent(
      /4 minutes.*9 in 10 answered within 30 minutes/u,
    );
    expect(screen.getByText('Days are in Europe/Vienna.')).toBeVisible();
    expect(screen.getByRole('region', { name: 'Rating' })).toHaveTextContent(/4\.5 of 5.*4 ratings/u);
    const people = within(screen.getByRole('table', { name: 'People' }));
    expect(people.getByRole('row', { name: /tina 12 10 4 minutes 30 minutes 2 hours 4\.5/u })).toBeVisible();
    expect(screen.getByRole('table', { name: 'Weeks' })).toHaveTextContent('Nov 16, 2026');
    expect(screen.getByTitle('Week of Nov 16, 2026: 12 opened, 10 closed')).toBeVisible();
  });

  it('leave out the weeks in which nothing was asked or closed', async () => {
    const [week] = REPORT.weeks;
    if (!week) throw new Error('The report of tests has a week.');
    const quiet = { ...week, week: '2026-11-09', opened: 0, closed: 0 };
    server.answer(readReport, { ...REPORT, weeks: [quiet, week] });
    renderForTest(<ReportsPage />);
    const weeks = await screen.findByRole('table', { name: 'Weeks' });
    expect(within(weeks).getAllByRole('row')).toHaveLength(2);
    expect(screen.getByText('1 week without a conversation is not listed.')).toBeVisible();
    // A single bar says no more than its row.
    expect(screen.queryByTitle(/^Week of/u)).not.toBeInTheDocument();
  });

  it('say that their days are in UTC where the server does not know the zone of the desk', async () => {
    server.answer(readReport, { ...REPORT, time_zone: 'UTC', unknown_time_zone: 'Mars/Olympus' });
    renderForTest(<ReportsPage />);
    expect(await screen.findByText('This server doesn’t know the time zone Mars/Olympus. Days are in UTC.')).toBeVisible();
  });

  it('of a time without a matter say so in a line, and draw no empty axes', async () => {
    server.answer(readReport, { ...REPORT, total: { ...REPORT.total, opened: 0, closed: 0 }, people: [] });
    renderForTest(<ReportsPage />);
    expect(await screen.findByText('Nothing was asked or closed in this time.')).toBeVisible();
    expect(screen.queryByTitle(/^Week of/u)).not.toBeInTheDocument();
    expect(screen.queryByRole('table')).not.toBeInTheDocument();
  });

  // proves: support-staff-26
  it('are asked of the days that were chosen, and saved as CSV', async () => {
    const asked: string[] = [];
    server.on(readReport, (query) => {
      asked.push(query.toString());
      return reply(readReport, REPORT);
    });
    server.on(exportReport, { status: 200, text: 'a,b' });
    vi.stubGlobal('URL', Object.assign(URL, { createObjectURL: () => 'blob:file', revokeObjectURL: () => undefined }));
    renderForTest(<ReportsPage />);
    const time = await screen.findByLabelText('Time');
    const user = userEvent.setup();
    expect(await screen.findByText('Sep 1, 2026 to Nov 20, 2026')).toBeVisible();
    await user.selectOptions(time, 'Choose dates');
    fireEvent.change(screen.getByLabelText('From'), { target: { value: '2026-11-01' } });
    await waitFor(() => expect(asked.at(-1)).toBe('from=2026-11-01&to=2026-11-20'));
    await user.selectOptions(time, 'Last 7 days');
    await waitFor(() => expect(asked.at(-1)).toMatch(/^from=\d{4}-\d\d-\d\d&to=\d{4}-\d\d-\d\d$/u));
    const week = new URLSearchParams(asked.at(-1));
    expect((Date.parse(week.get('to') ?? '') - Date.parse(week.get('from') ?? '')) / 86_400_000).toBe(6);
    await user.selectOptions(time, 'Last 12 weeks');
    await waitFor(() => expect(asked.at(-1)).toBe(''));
    await user.click(screen.getByRole('button', { name: 'Download as CSV' }));
    await waitFor(() => expect(server.callsOf(exportReport)).toHaveLength(1));
  });
});
