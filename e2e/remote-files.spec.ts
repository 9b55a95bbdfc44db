import { readFile } from 'node:fs/promises';
import { type Download, expect, type Locator } from '@playwright/test';
import { expectAccessible, expectNothingCutOff } from './accessible.ts';
import { test } from './palisade.ts';
import { nestedZip } from './samples.ts';
import { banner, drawClock, openSession, picture, SHARES, shareOwnTab, sharing, workspace } from './session.ts';

async function bytesOf(saved: Download): Promise<Buffer> {
  return await readFile(await saved.path());
}

const textOf = async (saved: Download) => (await bytesOf(saved)).toString();

test('files go both ways through the scanner, a recording takes a yes, and every screen says that a session runs', async ({
  palisade,
}) => {
  const { technician: page, customer, browser } = await openSession(palisade, { flags: SHARES });

  // Another screen in another tab asks the customer too.
  const elsewhere = await customer.context().newPage();
  const notice = elsewhere.getByRole('region', { name: 'Remote session' });
  await elsewhere.goto('/firewall');
  await expect(notice.getByRole('alert')).toContainText('tina asks to see your screen.');
  await expect(notice.getByRole('link', { name: 'Look and answer' })).toHaveAttribute('href', '/remote');
  await expectAccessible(elsewhere);

  await shareOwnTab(customer);
  await customer.reload();
  await drawClock(customer);
  await banner(customer).getByRole('button', { name: 'Approve', exact: true }).click();
  await expect(picture(page)).toBeVisible({ timeout: 15_000 });
  await expect(notice).toContainText('They see what you share in another window');

  // Files are sent only after the customer allows it, at the technician's request.
  const [hers, theirs] = [customer, page].map((side) => side.getByRole('region', { name: 'Files', exact: true }));
  if (!hers || !theirs) throw new Error('There are two sides.');
  await workspace(page).getByRole('button', { name: 'Files', exact: true }).click();
  await expect(theirs.getByRole('button', { name: 'Send a file' })).toHaveCount(0);
  await theirs.getByRole('button', { name: 'Ask to exchange files' }).click();
  await expect(hers.getByRole('alert')).toContainText('tina asks to exchange files with you.');
  await hers.getByRole('button', { name: 'Allow files' }).click();
  const clean = { name: 'settings.txt', mimeType: 'text/plain', buffer: Buffer.from('color = green') };
  for (const [from, to] of [
    [theirs, hers],
    [hers, theirs],
  ] as const) {
    const bad = (side: Locator) => side.getByRole('listitem').filter({ hasText: nestedZip.name });
    const before = await bad(to).count();
    await from.getByLabel('Files to send').setInputFiles([nestedZip, clean]);
    for (const side of [from, to]) {
      await expect(bad(side)).toHaveCount(before + 1);
      await expect(bad(side).last()).toContainText('Infected (EICAR-Test-File): it did not arrive');
      await expect(bad(side).getByRole('button', { name: /^Download/ })).toHaveCount(0);
    }
    const saved = to.page().waitForEvent('download');
    await to.getByRole('button', { name: `Download ${clean.name}` }).click();
    expect(await textOf(await saved)).toBe('color = green');
  }
  await expectAccessible(customer);
  await expectNothingCutOff(customer);
  await expectAccessible(page);
  await expectNothingCutOff(page);

  // A recording requires a separate permission. Revoking it ends the recording, and both sides get the recorded part.
  await expect(workspace(page).getByRole('button', { name: 'Record', exact: true })).toHaveCount(0);
  await workspace(page).getByRole('button', { name: 'Ask to record' }).click();
  await expect(customer.getByText('tina asks to record what you share.')).toBeVisible();
  await customer.getByRole('button', { name: 'Allow recording' }).click();
  await workspace(page).getByRole('button', { name: 'Record', exact: true }).click();
  await expect(workspace(page).getByText('You record the picture, without voices.')).toBeVisible();
  await expect(customer.getByText('Your shared screen is being recorded. You both get the recording.')).toBeVisible();
  await expect(sharing(customer)).toContainText('It is being recorded.');
  await customer.getByRole('button', { name: 'Stop recording' }).click();
  await expect(workspace(page).getByText('The recording is here.')).toBeVisible();
  for (const side of [hers, theirs]) {
    const saved = side.page().waitForEvent('download');
    await side.getByRole('button', { name: /^Download remote-session-.*\.webm$/ }).click();
    // First bytes of WebM (RFC 8794).
    expect((await bytesOf(await saved)).subarray(0, 4).toString('hex')).toBe('1a45dfa3');
  }

  // Stop in the other tab ends the session everywhere, and an administrator can read its record.
  await notice.getByRole('button', { name: 'End session', exact: true }).click();
  await expect(sharing(customer)).toHaveCount(0);
  await expect(picture(page)).toHaveCount(0);
  await expect(notice).toHaveCount(0);
  const admin = await palisade.open('ada', '/admin/remote-sessions', { role: 'admin' });
  const row = admin.getByRole('list', { name: 'Sessions' }).getByRole('listitem').filter({ hasText: 'tina with maria' });
  await expect(row).toContainText('Ended by the customer');
  await row.getByRole('button', { name: 'Details of tina with maria' }).click();
  const record = admin.getByRole('dialog').getByRole('list', { name: 'What was recorded' });
  await expect(record).toContainText('Remote session recording started');
  await expect(record).toContainText(`File in a remote session not received: ${nestedZip.name}`);
  await expectAccessible(admin);
  await browser.close();
});
