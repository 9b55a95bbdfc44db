import { confirmDevice, type Device, removeDevice } from '@palisade/contract/devices';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { Row, Stack } from '#ui/layout.tsx';
import { Refusal } from '#ui/refusal.tsx';

/** Asks whether a new device is this person's own, by the fingerprint that its agent shows. */
export function ConfirmDevice({ device }: { device: Device }) {
  const params = { id: device.id };
  const confirm = useChange({
    of: confirmDevice,
    mutationFn: () => call(confirmDevice, { params, body: { fingerprint: device.fingerprint } }),
  });
  const remove = useChange({ of: removeDevice, mutationFn: () => call(removeDevice, { params }) });
  const error = confirm.error ?? remove.error;
  return (
    <Stack gap="3" className="pad-row line-above above-4">
      <h3>Is this your computer?</h3>
      <p>Its agent shows a fingerprint in the terminal. Compare it with this one:</p>
      <p>
        <code data-fingerprint="">{device.fingerprint}</code>
      </p>
      <p className="sub">Until you confirm, it gets no rules, and its reports do not count.</p>
      <Refusal error={error} />
      <Row gap="2">
        <Button loading={confirm.isPending} onClick={() => confirm.mutate()}>
          The fingerprint is the same
        </Button>
        <Button variant="quiet" loading={remove.isPending} onClick={() => remove.mutate()}>
          Remove this device
        </Button>
      </Row>
    </Stack>
  );
}
