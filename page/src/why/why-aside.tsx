import type { KeyboardEvent, ReactElement } from 'react';
import { useEffect, useRef } from 'react';
import type { UseAgentResult } from 'stepline/react';
import { Icon } from '../app/icons.tsx';
import { WhyPanel } from './why-panel.tsx';

interface WhyAsideProps {
  readonly agent: UseAgentResult;
  /** True if there is room for it beside the conversation. */
  readonly isColumn: boolean;
  readonly onClose: () => void;
}

/** The panel: a column if there is room, else a sheet over the conversation. */
export function WhyAside({ agent, isColumn, onClose }: WhyAsideProps): ReactElement {
  const closing = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isColumn) closing.current?.focus();
  }, [isColumn]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && !isColumn) onClose();
  };
  return (
    <>
      {!isColumn && <div className="backdrop" onClick={onClose} />}
      <aside className={isColumn ? 'why' : 'why sheet'} aria-label="Why" onKeyDown={onKeyDown}>
        <div className="why-bar">
          <span className="why-title">Why</span>
          {!isColumn && (
            <button ref={closing} type="button" className="icon-button" aria-label="Close" onClick={onClose}>
              <Icon name="cross" />
            </button>
          )}
        </div>
        <WhyPanel agent={agent} />
      </aside>
    </>
  );
}
