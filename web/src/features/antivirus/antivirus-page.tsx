import { IconAlertTriangle, IconFiles, IconShieldCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { useSearchParams } from 'react-router';
import { describeCount, describeEngines, type ScanSummary, summarizeScans } from '#api/scan-summary.ts';
import { scansQuery } from '#api/scans.ts';
import { StatCard } from '#ui/card.tsx';
import { Page } from '#ui/page.tsx';
import { DropArea } from './drop-area.tsx';
import { ScanHistory } from './scan-history.tsx';
import { UploadPanel } from './upload-panel.tsx';
import { useUploads } from './uploads.tsx';

const ScanDetailDialog = lazy(async () => ({ default: (await import('./scan-detail.tsx')).ScanDetailDialog }));

export function AntivirusPage() {
  const { add } = useUploads();
  const { data: scans } = useQuery(scansQuery);
  return (
    <Page title="Antivirus" sentence="Have any file read whole by the scanning engines, and see what they found.">
      <DropArea onFiles={add} />
      <UploadPanel />
      <ScanStats summary={scans && summarizeScans(scans)} />
      <ScanHistory />
      <OpenScan />
    </Page>
  );
}

/** The record that the address names, over the page. */
function OpenScan() {
  const [search, setSearch] = useSearchParams();
  const id = search.get('scan');
  if (id === null) return null;
  return (
    <Suspense>
      <ScanDetailDialog key={id} id={id} onClose={() => setSearch({}, { replace: true, preventScrollReset: true })} />
    </Suspense>
  );
}

function ScanStats({ summary }: { summary: ScanSummary | undefined }) {
  const isPartial = summary?.is_partial ?? false;
  const total = summary && summary.infected + summary.clean + summary.pending;
  const examined = summary?.latest_examined;
  return (
    <div className="page__stats">
      <StatCard label="Protection Status" icon={<IconShieldCheck size={20} stroke={1.7} />} value="ACTIVE">
        {examined ? `last file read by ${describeEngines(examined)}` : summary && 'no file has been read yet'}
      </StatCard>
      <StatCard
        label="Threats Detected"
        icon={<IconAlertTriangle size={20} stroke={1.7} />}
        value={summary ? describeCount(summary.infected, isPartial) : '–'}
      >
        {isPartial ? 'infected files among the latest scans' : 'infected files'}
      </StatCard>
      <StatCard
        label="Files Scanned"
        icon={<IconFiles size={20} stroke={1.7} />}
        value={total === undefined ? '–' : describeCount(total, isPartial)}
      >
        {summary && summary.pending > 0 ? `${describeCount(summary.pending, isPartial)} not fully read` : 'on this account'}
      </StatCard>
    </div>
  );
}
