import { IconDownload, IconPrinter } from '@tabler/icons-react';
import { currentSession } from '#api/session.ts';
import { Button } from '#ui/button.tsx';
import { CopyButton } from '#ui/copy-button.tsx';
import { Row, Stack } from '#ui/layout.tsx';
import { AskBeforeClosing } from '#ui/modal-window.tsx';

const FILE_NAME = 'palisade-recovery-codes.txt';

/** The file names the account and the server, because its reader may have several accounts. */
function save(codes: readonly string[]): void {
  const account = currentSession()?.user_info.email ?? '';
  const heading = `Palisade recovery codes of ${account} at ${window.location.origin}`;
  const text = `${heading}\nEach of them signs you in once.\n\n${codes.join('\n')}\n`;
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = FILE_NAME;
  link.click();
  URL.revokeObjectURL(address);
}

/** A new set of codes, shown only once. */
export function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) {
  return (
    <Stack gap="4">
      <AskBeforeClosing question="Have you saved your recovery codes? We won’t show them again." />
      <p className="sub">Lost your phone? Use one of these; each works once. Save them now.</p>
      <Stack as="ul" gap="2" align="center" className="recovery-codes mono base surface-sunken pad-l" aria-label="Recovery codes">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </Stack>
      <Row gap="2">
        <CopyButton size="s" text={codes.join('\n')} copied="The list of codes was copied." />
        <Button variant="quiet" size="s" icon={IconDownload} onClick={() => save(codes)}>
          Download
        </Button>
        <Button variant="quiet" size="s" icon={IconPrinter} onClick={() => window.print()}>
          Print
        </Button>
      </Row>
      <Row wrap={false} gap="3" align="stretch" justify="between" className="two-factor__actions">
        <Button onClick={onDone}>I’ve saved my codes</Button>
      </Row>
    </Stack>
  );
}
