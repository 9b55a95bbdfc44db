import { screen, waitFor } from '@testing-library/react';
import { expect, it } from 'vitest';
import { scanOf } from '#api/fake-records.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { ScanRow } from './scan-row.tsx';

it('says of a file that was scanned where it is, on which device and where there, as text', () => {
  const device = { id: '01930000-0000-7000-b000-000000000001', device_name: '<b>Kitchen</b>', path: '/home/maria/<i>x</i>' };
  renderForTest(
    <ul>
      <ScanRow scan={scanOf({ device })} now={0} />
    </ul>,
  );
  expect(screen.getByRole('listitem')).toHaveTextContent('On <b>Kitchen</b>: /home/maria/<i>x</i>');
});

const coverage = { members_total: 0, members_scanned: 0, encrypted: 0, whole_file_conditions: true };

it.each([
  [
    'a file of unknown bytes',
    scanOf({ coverage: { ...coverage, bytes_scanned: 9, bytes_raw: 9 } }),
    'Unknown file type. No threat matched.',
  ],
  [
    'a file that is partly unknown',
    scanOf({ coverage: { ...coverage, bytes_scanned: 9, bytes_raw: 4 } }),
    /9 B checked, including 4 B of unknown data/u,
  ],
  [
    'an infected archive',
    scanOf({ scan_status: 'infected', threat_detected: 'Eicar', filename: 'evil.zip', threat_member: 'docs/run.exe' }),
    'Eicar in the file docs/run.exe',
  ],
])('says in words what is in %s', async (_, scan, words) => {
  renderForTest(
    <ul>
      <ScanRow scan={scan} now={0} />
    </ul>,
  );
  // The words for a threat come with a file of their own.
  await waitFor(() => expect(screen.getByRole('listitem')).toHaveTextContent(words));
});
