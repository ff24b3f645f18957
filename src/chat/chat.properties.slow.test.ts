// The same properties as beside it, on 1,000 random chats each.
import './chat.properties.test.ts';
