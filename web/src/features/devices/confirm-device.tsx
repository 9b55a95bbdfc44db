import { confirmDevice, type Device, removeDevice } from '@palisade/contract/devices';
import { call, sentenceOf } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';

/** Asks whether a new device is this person's own, by the fingerprint that its agent has shown. */
export function ConfirmDevice({ device }: { device: Device }) {
  const params = { id: device.id };
  const confirm = useChange({
    of: confirmDevice,
    mutationFn: () => call(confirmDevice, { params, body: { fingerprint: device.fingerprint } }),
  });
  const remove = useChange({ of: removeDevice, mutationFn: () => call(removeDevice, { params }) });
  const error = confirm.error ?? remove.error;
  return (
    <div className="add-step">
      <h3>Is this your computer?</h3>
      <p>Its agent shows a fingerprint in the terminal. Compare it with this one:</p>
      <p>
        <code data-fingerprint="">{device.fingerprint}</code>
      </p>
      <p className="sub">Until you confirm, it gets no rules, and its reports do not count.</p>
      {error && (
        <p className="add-step__refusal" role="alert">
          {sentenceOf(error)}
        </p>
      )}
      <div className="add-step__buttons">
        <Button loading={confirm.isPending} onClick={() => confirm.mutate()}>
          The fingerprint is the same
        </Button>
        <Button variant="quiet" loading={remove.isPending} onClick={() => remove.mutate()}>
          Remove this device
        </Button>
      </div>
    </div>
  );
}
