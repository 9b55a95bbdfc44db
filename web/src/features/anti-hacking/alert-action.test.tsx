import { screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { alertOf } from '#api/fake-records.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { AlertAction } from './alert-action.tsx';

const SCAN = '01930000-0000-7000-8000-00000000e001';

it.each([
  [{ threat_type: 'suspicious_login' }, 'link', 'Was this you?', /\/\?alert=/u],
  [
    { threat_type: 'malware_detected', rule: 'malware_detected.infected', scan_id: SCAN },
    'link',
    'See what to do',
    /^\/antivirus\?scan=.*e001$/u,
  ],
  [
    { threat_type: 'malware_detected', rule: 'device_infected_file' },
    'link',
    'See infected files',
    /^\/antivirus\?status=infected$/u,
  ],
  [
    { threat_type: 'intrusion_attempt', rule: 'intrusion_attempt.probing', status: 'acknowledged' },
    'link',
    'Resolve',
    /\/\?alert=/u,
  ],
  [{ threat_type: 'intrusion_attempt', rule: 'intrusion_attempt.probing' }, 'button', 'Mark as seen', undefined],
] as const)('an alert %j has the %s “%s”', (parts, role, name, href) => {
  renderForTest(<AlertAction alert={alertOf({ ...parts, description: 'It.' })} />);
  const action = screen.getByRole(role, { name: `${name}: It.` });
  if (href !== undefined) expect(action).toHaveAttribute('href', expect.stringMatching(href));
});
