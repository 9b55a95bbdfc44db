import { expect } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { PASSWORD } from './installation.ts';
import { chooseInMenu, givePassword, readOutbox, register, signIn, signOut, test } from './palisade.ts';

const PUBLIC = { EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' };

// proves: product-1.6-1, product-2.3-1
test('in public exposure the administrator confirms an address, promises nothing that is not, and passes on a reset token', async ({
  startOwn,
}) => {
  const palisade = await startOwn(PUBLIC);
  const office = await palisade.window();
  await office.goto('/?mode=register');
  await expect(office.getByText(/After you sign in, enter the code we email you/)).toBeVisible();
  await register(office, 'boss');
  await signIn(office, 'boss');
  await office.goto('/admin/setup');
  await expect(office.getByText(/enter the code we emailed you to become an administrator/)).toBeVisible();
  await office.goto('/dashboard');
  await office.getByRole('button', { name: 'Security User menu' }).click();
  await expect(office.getByRole('menuitem', { name: 'Outbox' })).toHaveCount(0);
  const reloaded = office.waitForEvent('load');
  await office.getByRole('menuitem', { name: 'Sign Out' }).click();
  await reloaded;
  // The operator forwards the code, which is in the address that the email names. Only then does the account become an administrator.
  const letters = readOutbox(palisade.data_dir).split(/^To: /m);
  const letter = letters.findLast((text) => /^boss@[\s\S]*confirm your email/i.test(text)) ?? '';
  const proof = /^((?:[2-9A-Z]{4}-){2}[2-9A-Z]{4})$/m.exec(letter)?.[1] ?? '';
  await office.goto(`/confirm-email#${proof}`);
  await givePassword(office, 'boss');
  await expect(office.getByLabel('Confirmation code')).toHaveValue(proof);
  const banner = office.getByRole('region', { name: 'Confirm your email address' });
  await expectAccessible(office);
  await office.getByRole('button', { name: 'Confirm', exact: true }).click();
  await expect(office.getByText('Your email address is confirmed.')).toBeVisible();
  await expect(banner).toHaveCount(0);

  const page = await palisade.open('maria');
  for (const path of ['/dashboard', '/firewall', '/chat', '/remote', '/antivirus']) {
    await page.goto(path);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    // The specification's claim appears only with the example contact, which is marked as an example.
    const claim = page.getByText(/available 24\/7|under 30 seconds/);
    await expect(claim.and(page.locator(':not(.support-block *)'))).toHaveCount(0);
    await expect(page.locator('.support-block')).toContainText('Example');
    await expect(page.getByText('Sample', { exact: true })).toHaveCount(0);
    await expect(page.getByText('Simulated')).toHaveCount(0);
    if (path === '/dashboard') await expect(page.getByText('measured on this account').first()).toBeVisible();
    if (path === '/firewall') await expect(page.getByRole('region', { name: 'Status' })).toContainText('NOT APPLIED');
  }

  await signOut(page);
  await page.getByRole('link', { name: 'Forgot Password?' }).click();
  await page.getByLabel('Email').fill('maria@example.com');
  await page.getByRole('button', { name: 'Send Reset Instructions' }).click();
  await expect(
    page.getByText('Request sent successfully. This installation sends no email. Ask your administrator for the code.'),
  ).toBeVisible();
  await expect(page.getByLabel('Reset Token')).toHaveValue('');
  await chooseInMenu(office, 'Outbox');
  await office.getByText('Palisade: Reset your password').click();
  const mail = office.getByText('Here is your password reset token.');
  await expect(mail).toBeVisible();
  await expectAccessible(office);
  await page.getByLabel('Reset Token').fill(/^([\w-]{43})$/m.exec((await mail.textContent()) ?? '')?.[1] ?? '');
  await page.getByLabel('New Password').fill(`${PASSWORD}, a new one`);
  await page.getByRole('button', { name: 'Reset Password' }).click();
  await expect(page.getByText('Password reset successful! You can now login with your new password.')).toBeVisible();
});
