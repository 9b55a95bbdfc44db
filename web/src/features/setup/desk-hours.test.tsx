import { changeDeskSettings, type DeskSettings, readDeskSettings } from '@palisade/contract/desk';
import { cleanup, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, it, vi } from 'vitest';
import { ADA } from '#api/fake-desk.ts';
import { FakeServer, refusal } from '#api/fake-server.ts';
import { ZONE } from '#ui/place.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { DeskHours } from './desk-hours.tsx';

const server = FakeServer.ofEachTest(ADA);

const ALWAYS: DeskSettings = { time_zone: 'UTC', hours: null, unanswered_minutes: 15, offline_minutes: 5 };

beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue();
  server.answer(readDeskSettings, ALWAYS);
  server.answer(changeDeskSettings, ALWAYS);
});

// proves: support-staff-24
it('sets days and times, with a pause, and closes a day', async () => {
  renderForTest(<DeskHours />);
  const user = userEvent.setup();
  await user.click(await screen.findByRole('switch', { name: 'Support is there day and night' }));
  expect(within(screen.getByRole('group', { name: 'Sunday' })).getByText('Closed')).toBeVisible();
  await user.click(screen.getByRole('button', { name: 'Friday: remove' }));
  await user.click(screen.getByRole('button', { name: 'Monday: add a time' }));
  await user.click(screen.getByRole('button', { name: 'Save the hours' }));
  expect(await screen.findByText('The hours are saved.')).toBeVisible();
  expect(server.callsOf(changeDeskSettings)[0]?.body).toEqual({
    ...ALWAYS,
    time_zone: ZONE.name,
    hours: [
      ...['monday', 'tuesday', 'wednesday', 'thursday'].map((day) => ({ day, from: '09:00', to: '17:00' })),
      { day: 'monday', from: '18:00', to: '20:00' },
    ],
  });
});

it('says at the field what the server refuses', async () => {
  const errors = [{ field: 'unanswered_minutes', message: 'Enter at least 1 minute.' }];
  server.on(changeDeskSettings, refusal('invalid_field', { errors, detail: 'A field is wrong.' }));
  renderForTest(<DeskHours />);
  const user = userEvent.setup();
  expect(await screen.findByRole('button', { name: 'Save the times' })).toBeDisabled();
  await user.clear(screen.getByRole('textbox', { name: 'Minutes until others may answer' }));
  await user.click(screen.getByRole('button', { name: 'Save the times' }));
  expect(await screen.findByText('Enter at least 1 minute.')).toBeVisible();
  expect(screen.queryByRole('alert')).not.toBeInTheDocument();
  expect(screen.getByRole('textbox', { name: 'Minutes until others may answer' })).toHaveFocus();
  server.on(changeDeskSettings, refusal('invalid_field', { errors: [], detail: 'Two times overlap.' }));
  await user.click(screen.getByRole('button', { name: 'Save the times' }));
  expect(await screen.findByRole('alert')).toHaveTextContent('Two times overlap.');
});

it('sends the minutes that were typed into an emptied field', async () => {
  renderForTest(<DeskHours />);
  const user = userEvent.setup();
  const minutes = await screen.findByRole('textbox', { name: 'Minutes until others may answer' });
  await user.clear(minutes);
  expect(minutes).toHaveValue('');
  await user.type(minutes, '30');
  await user.click(screen.getByRole('button', { name: 'Save the times' }));
  expect(await screen.findByText('The times are saved.')).toBeVisible();
  expect(server.callsOf(changeDeskSettings)[0]?.body).toMatchObject({ unanswered_minutes: 30 });
});

it('keeps what was chosen over a reload and a step back, until it is saved', async () => {
  const user = userEvent.setup();
  const field = () => screen.findByRole('textbox', { name: 'Minutes until others may answer' });
  renderForTest(<DeskHours />);
  await user.clear(await field());
  await user.type(await field(), '30');
  cleanup();
  renderForTest(<DeskHours />);
  expect(await field()).toHaveValue('30');
  expect(screen.getByText('We restored what you typed here. It isn’t saved yet.')).toBeVisible();
  await user.click(screen.getByRole('button', { name: 'Save the times' }));
  expect(await screen.findByText('The times are saved.')).toBeVisible();
  cleanup();
  renderForTest(<DeskHours />);
  expect(await field()).toHaveValue('15');
});

it('offers the time zone of this browser, and keeps hours and waiting times apart', async () => {
  const set: DeskSettings = { ...ALWAYS, time_zone: 'Pacific/Auckland', hours: [{ day: 'monday', from: '09:00', to: '17:00' }] };
  server.answer(readDeskSettings, set);
  renderForTest(<DeskHours />);
  const user = userEvent.setup();
  await screen.findByLabelText('Time zone');
  const hours = within(screen.getByRole('region', { name: 'Opening hours' }));
  expect(hours.queryByLabelText('Minutes until others may answer')).not.toBeInTheDocument();
  expect(hours.getByLabelText('Time zone')).toHaveValue('Pacific/Auckland');
  await user.click(hours.getByRole('button', { name: `Use ${ZONE.name}, this browser’s` }));
  expect(hours.getByLabelText('Time zone')).toHaveValue(ZONE.name);
  const times = within(screen.getByRole('region', { name: 'Waiting times' }));
  await user.type(times.getByLabelText('Minutes until someone counts as away'), '0');
  await user.click(times.getByRole('button', { name: 'Save the times' }));
  expect(await times.findByText('The times are saved.')).toBeVisible();
  expect(server.callsOf(changeDeskSettings)[0]?.body).toEqual({ ...set, offline_minutes: 50 });
});
