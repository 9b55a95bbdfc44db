import { readDashboard } from '@palisade/contract/dashboard';
import { readConfig } from '@palisade/contract/platform';
import type { Protector } from '@palisade/contract/status';
import { cleanup, screen, within } from '@testing-library/react';
import { expect, it } from 'vitest';
import { CONFIG, dashboardOf, statusOf } from '#api/fake-records.ts';
import { FakeServer } from '#api/fake-server.ts';
import { protectionOf } from '#domain/status/protection.ts';
import { StatusLead } from '#domain/status/status-lead.tsx';
import { UploadsProvider } from '#features/antivirus/uploads.tsx';
import { Hero } from '#features/dashboard/hero.tsx';
import { StatCards } from '#features/dashboard/stat-cards.tsx';
import { renderForTest } from '#ui/render-for-test.tsx';
import { TopBar } from './shell/top-bar.tsx';

const PLACES = ['/firewall', '/antivirus?scan=1', '/anti-hacking?alert=2'] as const;

/** The account of a number: up to four steps, each dangerous or not, and what protects its person. */
function accountOf(number: number) {
  const steps = Array.from({ length: number % 5 }, (_, index) => ({
    ...{ id: `check_${index}`, title: `Fault ${number} of ${index}`, action: `Mend ${index}` },
    is_danger: ((number >> index) & 1) === 1,
    fix_route: PLACES[(number + index) % PLACES.length] ?? '/firewall',
  }));
  const protected_by: Protector[] = [
    ...(number % 2 === 0 ? (['device'] as const) : []),
    ...(number % 3 === 0 ? (['scans'] as const) : []),
  ];
  return { steps: steps.toSorted((one, other) => Number(other.is_danger) - Number(one.is_danger)), protected_by };
}

const TONES = { good: 'good', attention: 'attention', danger: 'danger', unknown: 'unknown' } as const;
const WELL = /nothing needs you|no action needed|nothing to fix|no issues found|you’re safe|all clear/iu;

it('50 generated accounts see one state, one sentence and one next step in every place', async () => {
  for (let number = 0; number < 50; number += 1) {
    const { steps, protected_by } = accountOf(number);
    const status = { ...statusOf(...steps), protected_by };
    const score_breakdown = steps.map(({ id, title, fix_route }) => ({ id, title, fix_route, deduction: 8, gain: 8 }));
    const dashboard = dashboardOf({ status, score_breakdown });
    const server = new FakeServer();
    server.answer(readConfig, CONFIG);
    server.answer(readDashboard, dashboard);
    renderForTest(
      <UploadsProvider>
        <TopBar />
        <Hero status={dashboard} isUnknown={false} elsewhere={[]} />
        <StatusLead status={status} />
        <StatCards status={dashboard} simulated={undefined} />
      </UploadsProvider>,
    );
    const pill = await screen.findByTitle(status.sentence);
    expect(pill.dataset['tone']).toBe(TONES[status.state]);
    expect(pill).toHaveTextContent(protectionOf(status).words);
    expect(screen.getAllByRole('heading', { level: 2, name: status.sentence })).toHaveLength(2);
    for (const place of screen.getAllByRole('region', { name: status.sentence })) {
      expect(place.dataset['tone']).toBe(status.state);
      if (status.next !== null)
        expect(within(place).getByRole('link', { name: status.next.action })).toHaveAttribute('href', status.next.fix_route);
    }
    if (steps.length > 0) {
      expect(protectionOf(status).steps).toBe(steps.length);
      expect(document.body).not.toHaveTextContent(WELL);
      expect(screen.getByRole('region', { name: 'Security Score' })).toHaveTextContent(`${steps.length} to fix`);
    }
    cleanup();
  }
});
