import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type Locator, type Page } from '@playwright/test';
// biome-ignore lint/style/noRestrictedImports: a free port, found as in the API tests.
import { freePort } from '../server/test/free-port.ts';
import { expectAccessible, expectNothingCutOff } from './accessible.ts';
import { type Computer, no_desktop, no_namespaces, plugIn, SERVER_NAME } from './computer.ts';
import { test } from './palisade.ts';
import { nestedZip } from './samples.ts';
import { banner, openSession, SHARES, shareOwnTab, workspace } from './session.ts';

// The computer has its own network, the real agent and a real kernel; no part is simulated.

/** Server settings with a public address that differs from the listening address, as behind a proxy. Computers use the public address, the browser here uses the other. */
const elsewhere = async () => ({ EXPOSURE: 'local', PUBLIC_URL: `https://${SERVER_NAME}`, PORT: `${await freePort()}` });

const device = (page: Page) => page.getByRole('region', { name: 'Kitchen', exact: true });
const tile = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const row = (page: Page, name: string) => page.getByRole('row').filter({ has: page.getByText(name, { exact: true }) });
const lead = (page: Page) => page.getByRole('main').locator('section').first().getByRole('heading');

async function go(page: Page, path: '/devices' | '/firewall' | '/dashboard'): Promise<void> {
  await page.goto(path);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
}

async function addRule(page: Page, name: string, fill: (form: Locator) => Promise<void>): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Add Rule' });
  await page.getByRole('button', { name: 'Add Rule' }).click();
  await dialog.getByLabel('Rule Name').fill(name);
  await dialog.getByLabel('Action').selectOption('Block');
  await fill(dialog);
  await dialog.getByRole('button', { name: 'Add Rule' }).click();
  await expect(dialog).toBeHidden();
}

/** Adds the computer exactly as the page instructs. Every command runs as root, so sudo asks for no password. */
async function addTheDevice(page: Page, computer: Computer): Promise<void> {
  await go(page, '/devices');
  await expect(lead(page)).toHaveText('No device is connected.');
  await page.getByRole('button', { name: /^Linux/u }).click();
  const command = (await page.locator('[data-command]').textContent()) ?? '';
  expect(command).toMatch(/^curl -fsS https:\/\/palisade\.example\/agent\/install\.sh \| sudo sh$/u);
  const code = (await page.locator('[data-code]').textContent()) ?? '';
  expect(code).toMatch(/^[A-Z2-9]{5}-[A-Z2-9]{5}$/u);
  // The computer has no terminal to type at.
  const unattended = `${command.replace('sudo ', '')} -s -- --code-file "$file"`;
  expect(await computer.shell(`file=$(mktemp); echo ${code} >"$file"; ${unattended}`)).toContain(
    'This computer is now the device',
  );
  await computer.startAgent();
  const shown = (await page.locator('[data-fingerprint]').first().textContent()) ?? 'none';
  // Without systemd no folder holds the state of the running agent.
  expect(await computer.shell('palisade-agent status || true')).toContain(shown);
  await page.getByRole('button', { name: 'The fingerprint is the same' }).first().click();
  await page.getByRole('button', { name: /^Rename / }).click();
  await page.getByRole('textbox', { name: 'Device name' }).fill('Kitchen');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(device(page).getByText('Online')).toBeVisible();
  await expect(device(page).getByText('Applied', { exact: true })).toBeVisible();
}

test('rules reach a kernel, are taken back where they cut it off, and files are scanned where they are', async ({ startOwn }) => {
  test.skip(no_namespaces !== undefined, no_namespaces);
  test.slow();
  const palisade = await startOwn(await elsewhere());
  // The monitor requires a premium plan.
  const page = await palisade.open('maria', '/devices', { is_premium: true });
  page.on('dialog', (dialog) => void dialog.accept());
  const computer = await plugIn(palisade.url);
  const folder = mkdtempSync(join(tmpdir(), 'palisade-files-'));
  try {
    await addTheDevice(page, computer);
    await expectNothingCutOff(page);
    await expectAccessible(page);

    // A rule in force: blocked packets are counted.
    await computer.listen(8080);
    expect(computer.knock(8080)).toBe('open');
    await go(page, '/firewall');
    await expect(page.getByText('Sample', { exact: true })).toHaveCount(0);
    await addRule(page, 'No visitors', (form) => form.getByLabel('Port').fill('8080'));
    await expect(lead(page)).toHaveText('Your rules are applied on Kitchen.');
    expect(computer.knock(8080)).toBe('silent');
    await expect(row(page, 'No visitors')).toContainText(/[1-9]\d* packets? blocked/u);

    // A rule that blocks DNS cuts the agent off from its server, so the agent reverts it after the trial period.
    await go(page, '/firewall');
    await addRule(page, 'No names', async (form) => {
      await form.getByLabel('Direction').selectOption('Outbound');
      await form.getByLabel('Protocol').selectOption('All');
      await form.getByLabel('Port').fill('53');
    });
    await go(page, '/devices');
    await expect(device(page).getByText('Testing')).toBeVisible();
    await expect(device(page)).toContainText(/return in 0:\d\d/u);

    // The scan runs at the same time.
    const infected = join(folder, nestedZip.name);
    mkdirSync(join(folder, 'letters'));
    for (let index = 0; index < 200; index += 1)
      writeFileSync(join(folder, 'letters', `${index}.txt`), `A letter, the ${index}th.`);
    writeFileSync(infected, nestedZip.buffer);
    await device(page).getByRole('button', { name: 'Scan a folder' }).click();
    await device(page).getByRole('textbox', { name: 'Folder to scan' }).fill(folder);
    await page.keyboard.press('Enter');
    await expect(device(page).getByRole('progressbar', { name: 'Progress of the scan' })).toBeVisible();
    // The scan has the lowest priority, so it may take long.
    await expect(device(page)).toContainText('Folder scan finished. 1 infected file.', { timeout: 90_000 });
    const findings = tile(page, 'Found on devices').getByRole('listitem');
    await expect(findings).toContainText(infected);
    await expect(findings).toContainText('In quarantine');
    expect(existsSync(infected)).toBe(false);

    await expect(device(page).getByText('Rolled back')).toBeVisible();
    await expect(device(page)).toContainText('With these rules the server could not be reached: its name could not be resolved.');
    expect(await computer.shell('nft list chain inet palisade outbound')).not.toContain(' 53 ');
    await go(page, '/firewall');
    await expect(lead(page)).toHaveText('Kitchen couldn’t apply your rules.');
    await page.getByRole('switch', { name: 'Status of No names', exact: true }).click();
    await expect(lead(page)).toHaveText('Your rules are applied on Kitchen.');

    await go(page, '/devices');
    await findings.getByRole('button', { name: 'Restore' }).click();
    await expect(findings).toContainText('Restored');
    expect(readFileSync(infected).equals(nestedZip.buffer)).toBe(true);

    // The dashboard shows the values that the computer measured.
    await go(page, '/dashboard');
    await expect(tile(page, 'System health').getByRole('meter', { name: 'Memory' })).toHaveAttribute('value', /^[1-9]/u);
    await expect(page.getByText(/^(?:Sample|Simulated)$/u)).toHaveCount(0);

    expect(await computer.shell('/usr/local/bin/palisade-agent uninstall')).toContain('nothing of it is left');
    expect(await computer.shell('nft list tables; ls -A /opt /var/lib /usr/local/bin')).not.toContain('palisade');
    await go(page, '/devices');
    await expect(device(page).getByText('Revoked', { exact: true })).toBeVisible();
  } catch (error) {
    process.stderr.write(`${computer.said()}\n`);
    throw error;
  } finally {
    computer.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a technician controls a computer as far as its person grants, until they stop it', async ({ startOwn }) => {
  test.skip(no_namespaces !== undefined, no_namespaces);
  test.skip(no_desktop !== undefined, no_desktop);
  test.slow();
  const palisade = await startOwn(await elsewhere());
  const computer = await plugIn(palisade.url);
  const folder = mkdtempSync(join(tmpdir(), 'palisade-typed-'));
  const typed = () => (existsSync(join(folder, 'typed')) ? readFileSync(join(folder, 'typed'), 'utf8') : '');
  const { technician: page, customer, browser } = await openSession(palisade, { flags: SHARES });
  try {
    await computer.startDesktop(join(folder, 'typed'));
    await shareOwnTab(customer);
    await addTheDevice(customer, computer);
    await customer.goto('/remote');
    await banner(customer).getByRole('button', { name: 'Approve', exact: true }).click();
    const grants = customer.getByRole('region', { name: 'What tina may do' });
    await expect(grants).toContainText('No technician controls your computers.');

    // The screen stays hidden until the customer grants the request.
    await workspace(page).getByRole('button', { name: 'Ask for control' }).click();
    await expect(grants.getByRole('alert')).toContainText('tina asks to control your computer.');
    const screen = page.getByRole('region', { name: 'Screen of Kitchen' });
    await expect(screen).toHaveCount(0);

    // View only: typed keys have no effect.
    await grants.getByRole('switch', { name: 'See the screen of Kitchen' }).click();
    await expect(screen.getByText('You can see Kitchen, but not control it.')).toBeVisible();
    const canvas = screen.locator('canvas');
    await expect(canvas).toBeVisible();
    await canvas.click();
    await page.keyboard.type('unseen');
    await page.keyboard.press('Enter');

    // Control: exactly the keys typed from now on arrive, none from before.
    await grants.getByRole('switch', { name: 'Control mouse and keyboard of Kitchen' }).click();
    await expect(screen.getByText(/^You control Kitchen\./u)).toBeVisible();
    await expect(grants).toContainText('tina controls Kitchen.');
    await canvas.click();
    await page.keyboard.type('Echo "1 & 2" > ~/x');
    await page.keyboard.press('Enter');
    await expect.poll(typed).toBe('Echo "1 & 2" > ~/x\n');
    await expectAccessible(page);
    await expectAccessible(customer);

    // The customer stops control with a key: later typing has no effect, and the session continues.
    await customer.keyboard.press('Alt+Shift+C');
    await expect(screen).toHaveCount(0);
    await expect(workspace(page)).toContainText('Control is off.');
    await page.keyboard.type('late');
    await page.keyboard.press('Enter');
    await expect(grants).toContainText('No technician controls your computers.');
    await expect(workspace(page).getByRole('button', { name: 'End session' })).toBeVisible();
    expect(typed()).toBe('Echo "1 & 2" > ~/x\n');
  } catch (error) {
    process.stderr.write(`${computer.said()}\n`);
    throw error;
  } finally {
    await browser.close();
    computer.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
