// The same properties as beside it, on 500 random chats each.
import './chat.properties.test.ts';
