import { screen } from '@testing-library/react';
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
