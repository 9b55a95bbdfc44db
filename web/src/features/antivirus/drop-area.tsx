import { Dropzone } from '@mantine/dropzone';
import { UPLOAD_MAXIMUM } from '@palisade/contract/antivirus';
import { describeBytes, formatNumber } from '@palisade/contract/intl';
import { IconFileSearch } from '@tabler/icons-react';
import { type ComponentProps, useRef, useState } from 'react';
import { Button } from '#ui/button.tsx';
import { Row } from '#ui/layout.tsx';
import { LeadWords } from '#ui/lead.tsx';
import { type ChosenFiles, FILES_AT_ONCE, filesOfChoice, filesOfDrop } from './files-of-drop.ts';
import '@mantine/core/styles/Overlay.layer.css';
import '@mantine/core/styles/LoadingOverlay.layer.css';
import '@mantine/dropzone/styles.layer.css';
import { useOpenInfections } from './infection-lead.tsx';
import './drop-area.css';

/** Touch screens have no drag and drop of files. */
const CAN_DROP = !window.matchMedia('(hover: none)').matches;

type DropEvent = Parameters<NonNullable<ComponentProps<typeof Dropzone>['getFilesFromEvent']>>[0];

/** A sentence about files that were left out of a drop or choice; empty if there are none. */
function describeLeftOut({ files, is_cut, unread }: ChosenFiles): string {
  if (is_cut) return `We took the first ${formatNumber(FILES_AT_ONCE)} files. Add the others when these are done.`;
  if (unread > 0) return 'Your browser couldn’t open some of these files. Check that you may read them, then try again.';
  return files.length === 0 ? 'This folder has no files to scan.' : '';
}

/** Accepts any number of files and folders of any type, dropped or chosen. */
export function DropArea({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const isMain = useOpenInfections().files.length === 0;
  const openPicker = useRef<() => void>(null);
  const folderInput = useRef<HTMLInputElement>(null);
  const dropped = useRef<ChosenFiles>(undefined);
  const [leftOut, setLeftOut] = useState('');

  function take(chosen: ChosenFiles) {
    setLeftOut(describeLeftOut(chosen));
    if (chosen.files.length > 0) onFiles(chosen.files);
  }

  async function read(event: DropEvent): Promise<(File | DataTransferItem)[]> {
    if (Array.isArray(event)) return Promise.all(event.map((handle) => handle.getFile()));
    if ('dataTransfer' in event && event.dataTransfer !== null) {
      const items = [...event.dataTransfer.items];
      if (event.type !== 'drop') return items;
      const chosen = await filesOfDrop(items);
      dropped.current = chosen;
      return chosen.files;
    }
    const { target } = event;
    return target instanceof HTMLInputElement ? [...(target.files ?? [])] : [];
  }

  return (
    <Dropzone
      className="drop-area"
      classNames={{ inner: 'lead__line' }}
      openRef={openPicker}
      getFilesFromEvent={read}
      onDropAny={(files) => {
        take(dropped.current ?? filesOfChoice(files));
        dropped.current = undefined;
      }}
      onDrop={() => undefined}
      // Only the button opens the picker: a clickable area around it would be a second control for the keyboard.
      activateOnClick={false}
      activateOnKeyboard={false}
      enablePointerEvents
      role="group"
      aria-label="Files to scan"
      tabIndex={-1}
      inputProps={{ 'aria-label': 'Choose files to scan' }}
    >
      <LeadWords
        icon={IconFileSearch}
        title={CAN_DROP ? 'Drop files here to scan them' : 'Choose files to scan'}
        sentence={
          <>
            {`Any type, or a whole folder. Up to ${describeBytes(UPLOAD_MAXIMUM)} each; we check inside archives too.`}
            <span role="status" className="drop-area__left-out block amber">
              {leftOut}
            </span>
          </>
        }
      />
      <Row gap="2" className="drop-area__buttons">
        <Button size="l" variant={isMain ? 'primary' : 'quiet'} onClick={() => openPicker.current?.()}>
          Choose files
        </Button>
        <Button size="l" variant="quiet" onClick={() => folderInput.current?.click()}>
          Choose folder
        </Button>
      </Row>
      <input
        ref={(input) => {
          folderInput.current = input;
          if (input) input.webkitdirectory = true;
        }}
        type="file"
        multiple
        hidden
        aria-label="Choose a folder to scan"
        onChange={(event) => {
          take(filesOfChoice([...(event.currentTarget.files ?? [])]));
          // Reset the input, so that choosing the same folder again fires a change event.
          event.currentTarget.value = '';
        }}
      />
    </Dropzone>
  );
}
