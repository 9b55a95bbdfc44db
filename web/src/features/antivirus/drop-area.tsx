import { Dropzone } from '@mantine/dropzone';
import { UPLOAD_MAXIMUM } from '@palisade/contract/antivirus';
import { IconFileSearch } from '@tabler/icons-react';
import { useRef } from 'react';
import { Button } from '#ui/button.tsx';
import { describeBytes } from '#ui/bytes.ts';
import { LeadWords } from '#ui/lead.tsx';
import '@mantine/core/styles/Overlay.layer.css';
import '@mantine/core/styles/LoadingOverlay.layer.css';
import '@mantine/dropzone/styles.layer.css';
import './drop-area.css';

/** Where files are dropped or chosen: any number, any type. */
export function DropArea({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const openPicker = useRef<() => void>(null);
  return (
    <Dropzone
      className="drop-area"
      classNames={{ inner: 'lead__line' }}
      openRef={openPicker}
      onDrop={onFiles}
      // The button is the one control: a clickable area around it would be the same thing twice for a keyboard.
      activateOnClick={false}
      activateOnKeyboard={false}
      enablePointerEvents
      role="group"
      aria-label="Files to scan"
      tabIndex={-1}
      inputProps={{ 'aria-label': 'Choose files to scan' }}
    >
      <LeadWords
        icon={<IconFileSearch size={28} stroke={1.7} />}
        title="Drop files here to have them scanned"
        sentence={`Any type, several at once, up to ${describeBytes(UPLOAD_MAXIMUM)} each. Archives are opened and read inside.`}
      />
      <Button size="l" onClick={() => openPicker.current?.()}>
        Choose files
      </Button>
    </Dropzone>
  );
}
