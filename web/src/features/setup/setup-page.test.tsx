import { readOverview } from '@palisade/contract/overview';
import { readConfig } from '@palisade/contract/platform';
import { checkLogo, setupConfig } from '@palisade/contract/setup';
import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, it, vi } from 'vitest';
import { CONFIG, MARIA, NOTHING_WAITS } from '#api/fake-records.ts';
import { FakeServer, refusal, reply } from '#api/fake-server.ts';
import { enter, renderForTest } from '#ui/render-for-test.tsx';
import { SetupPage } from './setup-page.tsx';

const server = FakeServer.ofEachTest({ ...MARIA, role: 'admin' });
let alert: ReturnType<typeof vi.fn>;

beforeEach(() => {
  alert = vi.fn();
  vi.stubGlobal('alert', alert);
  server.answer(readConfig, CONFIG);
  giveUp(0);
});

function giveUp(jobs: number): void {
  const waiting = { ...NOTHING_WAITS, jobs };
  const first_steps = { provider: true, second_factor: true, first_scan: true, others: true };
  server.answer(readOverview, { waiting, is_mail_connected: true, first_steps });
}

async function open() {
  renderForTest(<SetupPage />);
  await screen.findByLabelText('Company Name');
  return userEvent.setup();
}

it('says how much work the server has given up, and where to look why', async () => {
  await open();
  expect(screen.queryByText(/given up/)).not.toBeInTheDocument();
  giveUp(2);
  renderForTest(<SetupPage />);
  expect(await screen.findByRole('heading', { name: '2 tasks were given up' })).toBeVisible();
  expect(screen.getByText(/The server’s log says which they were and why/)).toBeVisible();
});

it('keeps what was typed over a reload and a step back, until it is saved', async () => {
  const user = await open();
  await enter(user, screen.getByLabelText('Company Name'), 'Harbour IT');
  cleanup();
  await open();
  expect(screen.getByLabelText('Company Name')).toHaveValue('Harbour IT');
  expect(screen.getByText('We restored what you typed here. It isn’t saved yet.')).toBeVisible();
  server.answer(setupConfig, { success: true });
  await user.click(screen.getByRole('button', { name: 'Complete Setup' }));
  await screen.findByRole('heading', { name: 'Setup Complete' });
  cleanup();
  await open();
  expect(screen.getByLabelText('Company Name')).toHaveValue('');
});

it('needs a company name, and nothing else', async () => {
  const user = await open();
  const button = screen.getByRole('button', { name: 'Complete Setup' });
  expect(button).toBeDisabled();
  await user.type(screen.getByLabelText('Company Name'), '   ');
  expect(button).toBeDisabled();
  expect(screen.getByText('Enter the company name first.')).toBeVisible();
  await enter(user, screen.getByLabelText('Company Name'), 'Harbour IT');
  expect(button).toBeEnabled();
  expect(screen.queryByText('Enter the company name first.')).not.toBeInTheDocument();
  for (const label of ['Company Name', 'Support Phone', 'Support Email']) expect(screen.getByLabelText(label)).toBeRequired();
});

it('saves, says so, shows the summary, and has the screens read the new name', async () => {
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof reply>>();
  server.on(setupConfig, () => promise);
  const user = await open();
  await enter(user, screen.getByLabelText('Company Name'), 'Harbour IT');
  await enter(user, screen.getByLabelText('Support Phone'), '+1 800 555 0199');
  await enter(user, screen.getByLabelText('Support Email'), 'not checked');
  const asked = server.callsOf(readConfig).length;
  await user.click(screen.getByRole('button', { name: 'Complete Setup' }));
  expect(screen.getByRole('button', { name: 'Complete Setup' })).toBeDisabled();
  resolve(reply(setupConfig, { success: true }));
  expect(await screen.findByRole('heading', { name: 'Setup Complete' })).toHaveFocus();
  expect(alert.mock.calls).toEqual([['Client setup completed successfully']]);
  expect(screen.getByText('Harbour IT')).toBeVisible();
  expect(screen.getByText('not checked')).toBeVisible();
  const [sent] = server.callsOf(setupConfig);
  expect(sent?.body).toMatchObject({
    client_info: { company_name: 'Harbour IT', support_phone: '+1 800 555 0199', support_email: 'not checked' },
    setup_type: 'basic_installation',
  });
  await waitFor(() => expect(server.callsOf(readConfig)).toHaveLength(asked + 1));
  await user.click(screen.getByRole('button', { name: 'Change details' }));
  expect(screen.getByLabelText('Company Name')).toHaveValue('Harbour IT');
  expect(screen.getByText('Saved')).toBeVisible();
  await user.type(screen.getByLabelText('Company Name'), ' Ltd');
  expect(screen.getByText('Not saved yet')).toBeVisible();
});

it('says that it could not be saved, and why at the field', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  const errors = [{ field: 'client_info.support_phone', message: 'Use at most 40 characters for the support phone.' }];
  server.on(setupConfig, refusal('invalid_field', { errors }));
  const user = await open();
  await enter(user, screen.getByLabelText('Company Name'), 'Harbour IT');
  await user.click(screen.getByRole('button', { name: 'Complete Setup' }));
  await waitFor(() => expect(alert.mock.calls).toEqual([['Error saving configuration. Please try again.']]));
  expect(screen.getByLabelText('Support Phone')).toHaveAccessibleDescription(/at most 40 characters/u);
  expect(screen.getByLabelText('Company Name')).toHaveValue('Harbour IT');
  expect(screen.getByRole('button', { name: 'Complete Setup' })).toBeEnabled();
});

it('previews a color in both schemes, refuses what is none at its field, and sends the look with the rest', async () => {
  server.answer(setupConfig, { success: true });
  const user = await open();
  await enter(user, screen.getByLabelText('Company Name'), 'Harbour IT');
  await user.type(screen.getByLabelText('Accent color'), 'teal');
  await user.click(screen.getByRole('button', { name: 'Complete Setup' }));
  expect(screen.getByLabelText('Accent color')).toHaveAccessibleDescription(/Enter a color as # and six digits/u);
  expect(server.callsOf(setupConfig)).toHaveLength(0);
  await user.clear(screen.getByLabelText('Accent color'));
  await enter(user, screen.getByLabelText('Accent color'), '#fc0');
  expect(screen.getByText(/darker so that it can be read/u)).toBeVisible();
  expect(screen.getByText('#ffcc00, as it is.')).toBeVisible();
  await user.upload(screen.getByLabelText('Choose a logo'), new File(['png'], 'logo.png', { type: 'image/png' }));
  await waitFor(() => expect(server.uploads).toHaveLength(1));
  server.uploads[0]?.answer(reply(checkLogo, { png: 'iVBORw0KGgo=', width: 96, height: 48, on: 'dark' }));
  expect(await screen.findAllByRole('img', { name: 'Harbour IT' })).toHaveLength(2);
  await user.click(screen.getByRole('button', { name: 'Complete Setup' }));
  await screen.findByRole('heading', { name: 'Setup Complete' });
  expect(screen.getByRole('img', { name: 'Harbour IT' })).toBeVisible();
  expect(server.callsOf(setupConfig)[0]?.body).toMatchObject({ brand: { accent: '#ffcc00', logo: 'iVBORw0KGgo=' } });
});

it('says beside the logo why one is refused', async () => {
  const errors = [{ field: 'file', message: 'This isn’t a PNG file. Save the logo as PNG and choose it again.' }];
  const user = await open();
  await user.click(screen.getByText('Optional: support promise, logo, and color'));
  await user.upload(screen.getByLabelText('Choose a logo'), new File(['gif'], 'logo.png', { type: 'image/png' }));
  await waitFor(() => expect(server.uploads).toHaveLength(1));
  server.uploads[0]?.answer(refusal('invalid_field', { errors }));
  expect(await screen.findByText(/This isn’t a PNG file/u)).toBeVisible();
});
