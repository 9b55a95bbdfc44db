import { expect } from '@playwright/test';
import { expectAccessible } from './accessible.ts';
import { chooseInMenu, test } from './palisade.ts';
import { nestedZip } from './samples.ts';

// proves: product-2.8-9
test('a finding explains itself, its file comes back, and an administrator decides about a false alarm', async ({ palisade }) => {
  const page = await palisade.open('ada', '/dashboard', { role: 'admin' });
  const maria = await palisade.open('maria', '/antivirus');
  await maria.getByLabel('Choose files to scan').setInputFiles([nestedZip]);
  await maria.getByRole('link', { name: nestedZip.name }).click();
  const dialog = maria.getByRole('dialog', { name: 'Scan details' });
  await expect(dialog).toContainText('It contains a harmless test file.');
  await expect(dialog.getByText('inner.zip').first()).toBeVisible();
  await expectAccessible(maria);
  const download = maria.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Download file' }).click();
  await (await download).path();
  // Downloading takes a copy: the file stays in quarantine, and the log says so.
  await expect(dialog).toContainText('Our copy is quarantined until');
  await expect(dialog.getByRole('button', { name: 'Delete our copy' })).toBeVisible();

  await dialog.getByRole('button', { name: 'Report a false alarm' }).click();
  await dialog.getByLabel(/^Why is this file harmless/).fill('I packed it myself.');
  await dialog.getByRole('button', { name: 'Send report' }).click();
  await expect(dialog).toContainText('An administrator will review it.');
  await chooseInMenu(page, 'False alarms');
  await expect(page.getByText('I packed it myself.')).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: `Confirm false alarm for ${nestedZip.name}` }).click();
  await expect(page.getByRole('button', { name: /Confirm threat/ })).toHaveCount(0);

  // The address of the dialog opens it again.
  await maria.reload();
  await expect(dialog).toContainText('agrees: this is a false alarm');
  maria.once('dialog', (question) => void question.accept());
  await dialog.getByRole('button', { name: 'Remove from history' }).click();
  await expect(maria.getByText('No scans yet')).toBeVisible();
});
