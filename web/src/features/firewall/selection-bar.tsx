import type { RuleChange } from '@palisade/contract/firewall';
import { Button } from '#ui/button.tsx';
import { Row } from '#ui/layout.tsx';

interface SelectionBarProps {
  /** Number of selected rules, and of listed rules. */
  selected: number;
  total: number;
  isBusy: boolean;
  onChange: (change: RuleChange) => void;
  onAll: () => void;
  onClear: () => void;
}

/** Actions on the selected rules. Stays visible while the list scrolls. */
export function SelectionBar({ selected, total, isBusy, onChange, onAll, onClear }: SelectionBarProps) {
  const isNone = selected === 0;
  return (
    <Row
      as="fieldset"
      gap="3"
      rowGap="2"
      justify="between"
      className="selection-bar surface-raised pad-s above-3"
      aria-label="Selected rules"
    >
      <span className="base medium num" role="status">{`${selected} of ${total} selected`}</span>
      <Row gap="1">
        <Button size="s" variant="quiet" disabled={isNone || isBusy} onClick={() => onChange('enable')}>
          Enable
        </Button>
        <Button size="s" variant="quiet" disabled={isNone || isBusy} onClick={() => onChange('disable')}>
          Disable
        </Button>
        <Button size="s" variant="quiet" disabled={isNone || isBusy} onClick={() => onChange('delete')}>
          Delete selected
        </Button>
        {selected < total && (
          <Button size="s" variant="text" onClick={onAll}>
            Select all
          </Button>
        )}
        <Button size="s" variant="text" onClick={onClear}>
          Done
        </Button>
      </Row>
    </Row>
  );
}
