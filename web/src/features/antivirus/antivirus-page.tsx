import { formatNumber } from '@palisade/contract/intl';
import { IconAlertTriangle, IconFiles, IconShieldCheck } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useSearchParams } from 'react-router';
import { describeEngines } from '#domain/scan/scan-summary.ts';
import { EVERY_SCAN, scansQuery, scanTotalsQuery } from '#domain/scan/scans.ts';
import { StatCard } from '#ui/card.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { Page } from '#ui/page.tsx';
import { describeTestFiles } from '#ui/test-files.ts';
import { DropArea } from './drop-area.tsx';
import { EngineCard } from './engine-card.tsx';
import { InfectionLead } from './infection-lead.tsx';
import { ScanHistory } from './scan-history.tsx';
import { UploadPanel } from './upload-panel.tsx';
import { scanOfUpload } from './upload-summary.ts';
import { useUploads } from './use-uploads.ts';

const ScanDetailDialog = lazyPart(async () => (await import('./scan-detail.tsx')).ScanDetailDialog);

export function AntivirusPage() {
  const { queue, uploads } = useUploads();
  const scanned = uploads.flatMap((upload) => scanOfUpload(upload) ?? []);
  const ids = scanned.map(({ id }) => id).join(' ');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the ids show whether the list differs; a stable array keeps progress events from rendering the history
  const justScanned = useMemo(() => scanned, [ids]);
  return (
    <Page title="Antivirus" sentence="Check files for threats before you open them.">
      <InfectionLead />
      <DropArea onFiles={(files) => queue.add(files)} />
      <UploadPanel />
      <ScanStats />
      <EngineCard />
      <ScanHistory justScanned={justScanned} />
      <OpenScan />
    </Page>
  );
}

/** The dialog of the scan that the address names. */
function OpenScan() {
  const [search, setSearch] = useSearchParams();
  const id = search.get('scan');
  if (id === null) return null;
  function close() {
    search.delete('scan');
    setSearch(search, { replace: true, preventScrollReset: true });
  }
  return <ScanDetailDialog key={id} id={id} onClose={close} />;
}

/** Counts of the whole account, independent of the filters of the history. */
function ScanStats() {
  const { data: totals } = useQuery(scanTotalsQuery(''));
  const { data: history } = useInfiniteQuery(scansQuery(EVERY_SCAN));
  const latest = history?.pages.flatMap(({ rows }) => rows);
  const examined = latest?.find(({ engines }) => engines.length > 0);
  return (
    <div className="page__stats">
      <StatCard label="Protection Status" icon={IconShieldCheck} value="ACTIVE">
        {examined && `Last file checked by ${describeEngines(examined)}`}
        {latest && !examined && (latest.length === 0 ? 'No files checked yet' : 'No files checked lately')}
      </StatCard>
      <StatCard label="Threats Detected" icon={IconAlertTriangle} value={totals ? formatNumber(totals.infected) : '–'}>
        {describeTestFiles(totals?.test_files, totals?.infected) ?? 'Infected files'}
      </StatCard>
      <StatCard
        label="Files Scanned"
        icon={IconFiles}
        value={totals ? formatNumber(totals.clean + totals.infected + totals.pending) : '–'}
      >
        {totals && totals.pending > 0 ? `${formatNumber(totals.pending)} pending` : 'On your account'}
      </StatCard>
    </div>
  );
}
