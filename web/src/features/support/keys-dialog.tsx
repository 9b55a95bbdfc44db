import { ModalWindow } from '#ui/modal-window.tsx';
import { Toggle } from '#ui/toggle.tsx';
import { KEYS, turnKeys, useAreKeysOn } from './keys.ts';

export function KeysDialog({ onClose }: { onClose: () => void }) {
  const areOn = useAreKeysOn();
  return (
    <ModalWindow title="Keys of the support desk" onClose={onClose}>
      <dl className="keys">
        {KEYS.map(({ keys, what }) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <Toggle label="Single keys" isOn={areOn} onChange={turnKeys} />
    </ModalWindow>
  );
}
