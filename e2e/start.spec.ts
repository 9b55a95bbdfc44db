import { expect } from '@playwright/test';
import { expectNothingCutOff } from './accessible.ts';
import { post, register, scanBeside, signIn, test } from './palisade.ts';
import { cleanPdf } from './samples.ts';

const NAME = `<b>Harbour</b> ${'W'.repeat(65)}`;

// proves: asvs-3.2.2, product-1.6-2, product-2.1-1, product-2.1-2, product-2.2-1, product-2.4-1
test('the first start leads to an administrator, to set-up, which everybody sees, and through the first steps', async ({
  startOwn,
}) => {
  const palisade = await startOwn();
  expect(new URL(palisade.url).hostname).toBe('localhost');
  const page = await palisade.window();
  await page.goto('/');
  await expect(page.getByRole('tab', { name: 'Register' })).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByText('You’re the first here: you’ll be the administrator.')).toBeVisible();
  await register(page, 'ada');
  // People who register later do not see it.
  await page.getByRole('tab', { name: 'Register' }).click();
  await expect(page.getByText('You’re the first here: you’ll be the administrator.')).toHaveCount(0);
  await page.getByRole('tab', { name: 'Login' }).click();
  await signIn(page, 'ada');
  const promise = page.getByRole('complementary', { name: 'Palisade' }).locator('footer');
  await expect(promise).toContainText(/available 24\/7.*under 30 seconds.*Example/u);
  const steps = page.getByRole('region', { name: 'Get started' });
  await expect(steps.getByRole('listitem')).toHaveCount(4);

  await steps.getByRole('link', { name: 'Set up' }).click();
  const messages: string[] = [];
  page.on('dialog', (dialog) => {
    messages.push(dialog.message());
    void dialog.accept();
  });
  await page.getByLabel('Company Name').fill(NAME);
  await page.getByLabel('Support Phone').fill('call me maybe');
  await page.getByLabel('Support Email').fill('not-an-email');
  await expect(page.getByLabel('Support Phone')).toHaveAccessibleDescription(/People can’t call this number with a press/);
  await expect(page.getByLabel('Support Email')).toHaveAccessibleDescription(/This isn’t an email address/);
  await page.getByRole('button', { name: 'Complete Setup' }).click();
  await expect(page.getByRole('heading', { name: 'Setup Complete' })).toBeVisible();
  expect(messages).toEqual(['Client setup completed successfully']);
  await expect(page.getByText('call me maybe').first()).toBeVisible();
  await expect(page.locator('a[href^="tel:"], a[href^="mailto:"]')).toHaveCount(0);
  await expect(page).toHaveTitle(`Admin Setup · ${NAME}`);
  await expectNothingCutOff(page);

  // A step shows that it is done without a press; dismissing removes all steps.
  await page.getByRole('button', { name: 'Main Dashboard' }).click();
  const left = (count: number) => page.getByRole('region', { name: `First steps: ${count} left` });
  await expect(left(3).getByRole('listitem').filter({ hasText: 'Add your contact details' })).toContainText('(done)');
  await scanBeside(page, cleanPdf);
  await left(2).getByRole('button', { name: 'Hide' }).click();
  const customer = await palisade.window();
  await customer.goto('/');
  await expect(customer.getByRole('complementary', { name: 'About Palisade' }).getByText(NAME)).toBeVisible();
  await register(customer, 'maria');
  await page.reload();
  await expect(page.locator('section.hero')).toBeVisible();
  await expect(page.getByRole('region', { name: /First steps/ })).toHaveCount(0);

  // All people see the provider's name and contact, as plain text.
  await signIn(customer, 'maria');
  await expect(customer.getByRole('banner').getByText(NAME)).toBeVisible();
  const client_info = { company_name: 'Harbour IT', support_phone: '+1 800 555 0199', support_email: 'help@harbour.example' };
  const support_promise = 'Answers within a day';
  const setup = { setup_type: 'basic_installation', timestamp: new Date().toISOString() };
  await post(page, '/admin/setup-config', { ...setup, client_info: { ...client_info, support_promise } });
  const theirs = customer.getByRole('complementary', { name: 'Palisade' }).locator('footer');
  await expect(theirs).toContainText(support_promise);
  await expect(theirs).not.toContainText(/24\/7|Example/u);
  await customer.goto('/admin/setup');
  await expect(customer.getByText('Administrators only')).toBeVisible();
});
