import { Grid, Row, Stack } from '#ui/layout.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { Toggle } from '#ui/toggle.tsx';
import { KEYS, turnKeys, useAreKeysOn } from './keys.ts';

export function KeysDialog({ onClose }: { onClose: () => void }) {
  const areOn = useAreKeysOn();
  return (
    <ModalWindow title="Keys of the support desk" onClose={onClose}>
      <Stack as="dl" gap="1">
        {KEYS.map(({ keys, what }) => (
          <Grid columns="term" gap="3" align="center" className="pad-line line-below" key={what}>
            <Row as="dt" wrap={false} gap="1" align="stretch">
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </Row>
            <dd className="base">{what}</dd>
          </Grid>
        ))}
      </Stack>
      <Toggle label="Single keys" isOn={areOn} onChange={turnKeys} />
    </ModalWindow>
  );
}
