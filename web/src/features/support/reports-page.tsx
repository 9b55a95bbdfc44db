import { useState } from 'react';
import { useSearchParams } from 'react-router';
import type { Days } from '#ui/days-filter.tsx';
import { Row } from '#ui/layout.tsx';
import { StateFilter } from '#ui/list-filters.tsx';
import { Page } from '#ui/page.tsx';
import { DeskReport } from './desk-report.tsx';
import { INSTALLATION_REPORTS, InstallationReport } from './installation-report.tsx';
import './reports-page.css';

const ABOUT = [
  { value: undefined, label: 'Support' },
  ...INSTALLATION_REPORTS.map(({ about, title }) => ({ value: about, label: title })),
];

/** The report of a subject, which is in the address (`?about=`). The period is kept when another subject is chosen. */
export function ReportsPage() {
  const [address, setAddress] = useSearchParams();
  const [range, setRange] = useState<Days>({ from: '', to: '' });
  const chosen = INSTALLATION_REPORTS.find(({ about }) => about === address.get('about'));
  return (
    <Page
      title="Reports"
      sentence={chosen?.sentence ?? 'How much was asked, how fast it was answered, and how customers rated it.'}
    >
      <Row>
        <StateFilter
          label="Report about"
          value={chosen?.about}
          options={ABOUT}
          onChoose={(about) => setAddress(about === undefined ? {} : { about }, { replace: true })}
        />
      </Row>
      {chosen ? (
        <InstallationReport kind={chosen} range={range} onChoose={setRange} />
      ) : (
        <DeskReport range={range} onChoose={setRange} />
      )}
    </Page>
  );
}
